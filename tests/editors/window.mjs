// The packaged extension in a window of Visual Studio Code: its server for browsers, and Chromium without a screen.
//   window.mjs QUERN VSIX SERVER CHROMIUM
// SERVER is the editor's server-main.js. With $QUERN_PICTURES a folder, the picture of docs/editors.md goes there.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { chromium } = createRequire(`${process.cwd()}/`)('playwright-core');
const [quern, vsix, main, executablePath] = process.argv.slice(2);
const pictures = process.env.QUERN_PICTURES;
const data = path.resolve('data');
const folder = path.resolve('folder');
const file = path.join(folder, 'layer.relay');

function write(where, content) {
  fs.mkdirSync(path.dirname(where), { recursive: true });
  fs.writeFileSync(where, typeof content === 'string' ? content : JSON.stringify(content));
}
write(file, `// A dense layer, with a mistake in the shapes.
def @affine[n, i, o](
  %x: Tensor[(n, i), float32],
  %w: Tensor[(o, i), float32]
) {
  nn.dense(%x, %w)
}

let %x = ones((2, 3));
let %w = ones((4, 5));
@affine(%x, ones((4, 3)));
`);
write(path.join(data, 'data/Machine/settings.json'), { 'quern.path': quern });
write(path.join(data, 'data/User/settings.json'), {
  'editor.hover.above': false,
  'editor.lightbulb.enabled': 'off',
  'editor.minimap.enabled': false,
  'editor.showFoldingControls': 'never',
  'extensions.ignoreRecommendations': true,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.commandCenter': false,
  'window.menuBarVisibility': 'hidden',
  'workbench.activityBar.location': 'hidden',
  'workbench.colorTheme': 'Default Dark Modern',
  'workbench.layoutControl.enabled': false,
  'workbench.startupEditor': 'none',
});

/** The editor's server, and where it is. */
async function serve() {
  const where = ['--server-data-dir', data, '--extensions-dir', path.join(data, 'extensions'), '--accept-server-license-terms'];
  execFileSync('node', [main, ...where, '--install-extension', vsix], { stdio: 'ignore' });
  const options = ['--host', '127.0.0.1', '--port', '0', '--without-connection-token', '--telemetry-level', 'off'];
  const server = spawn('node', [main, ...where, ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
  process.on('exit', () => server.kill());
  let said = '';
  const port = await new Promise((done, fail) => {
    server.stdout.on('data', (text) => {
      const found = /listening on (\d+)/.exec((said += text));
      if (found) done(found[1]);
    });
    server.once('exit', () => fail(new Error(`the server ends: ${said}`)));
  });
  return { server, host: `127.0.0.1:${port}` };
}

const { server, host } = await serve();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 560 } });
page.setDefaultTimeout(60_000);
await page.goto(`http://${host}/?folder=${folder}&payload=${encodeURIComponent(JSON.stringify([['openFile', `vscode-remote://${host}${file}`]]))}`);

const groups = page.locator('.editor-group-container');
const lines = (group) => groups.nth(group).locator('.view-lines');
const lens = (name) => page.locator('.codelens-decoration a', { hasText: new RegExp(`^${name}$`) }).first();
/** An editor's lines have spaces that do not break. */
async function has(locator, wanted) {
  for (const end = Date.now() + 60_000; ; ) {
    const text = (await locator.allInnerTexts()).join('\n').replaceAll('\u00a0', ' ');
    if (text.includes(wanted)) return;
    if (Date.now() > end) assert.fail(`waited in vain for ${wanted}: ${text}`);
    await page.waitForTimeout(100);
  }
}
/** Types into the list that is open, and takes its row of this text. */
async function choose(text, typed = text) {
  const list = page.locator('.quick-input-widget');
  await list.locator('input.input').fill(typed);
  await list.locator('.monaco-list-row.focused', { hasText: text }).waitFor();
  await page.keyboard.press('Enter');
}
async function command(name) {
  await page.keyboard.press('F1');
  await choose(name, `>${name}`);
}
async function goTo(line, column) {
  await page.keyboard.press('Control+g');
  await choose(`line ${line}`, `:${line}:${column}`);
  await has(page.locator('#status\\.editor\\.selection'), `Ln ${line}, Col ${column}`);
}

const tests = {
  async 'types that the text leaves out stand in it'() {
    await has(lines(0), 'let %w: Tensor[(4, 5), float32] = ones((4, 5));');
    await has(lines(0), ') -> Tensor[(n, o), float32] {');
  },
  async 'the IR stands beside the source, and what belongs to the line of the cursor is marked'() {
    await lines(0).click();
    await page.keyboard.press('Control+b');
    await goTo(6, 4);
    await command('Quern: Show IR Beside the Source');
    await choose('@affine');
    await choose('loops');
    await has(page.locator('.tab'), 'layer.relay @affine (loops)');
    await has(lines(1), 'kernel(');
    await groups.nth(1).locator('.view-overlays .cdr[class*="ced-"]').first().waitFor();
  },
  async 'a mistake is marked and explained'() {
    await goTo(12, 1);
    await page.keyboard.type('@affine(%x, %w)');
    await page.keyboard.press('Escape');
    await page.locator('.squiggly-error').waitFor();
    await goTo(12, 13);
    await command('Show or Focus Hover');
    await has(page.locator('.monaco-hover'), 'argument 2 of `@affine` has to be Tensor[(4, 3), float32]');
    await has(page.locator('.monaco-hover'), 'Tensor[(4, 5), float32]');
    if (pictures) await page.screenshot({ path: path.join(pictures, 'editor_vscode.png') });
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Shift+k');
    await page.locator('.squiggly-error').waitFor({ state: 'detached' });
  },
  async 'the status bar says what the server does, and a click offers what to do about it'() {
    await page.locator('[id="quern.quern.quern.status"]').click();
    await has(page.locator('.quick-input-widget'), 'Restart Language Server');
    await page.keyboard.press('Escape');
    await lines(0).click();
  },
  async 'a lens shows its IR beside the source too'() {
    await lens('IR').click();
    await has(page.locator('.tab'), 'layer.relay @affine (typed)');
    await has(lines(0), '// A dense layer');
    await has(lines(1), 'def @affine[n, i, o]');
  },
  async 'values stand beside the statements'() {
    await lens('evaluate file').click();
    await has(lines(0), '= [[3, 3, 3, 3], [3, 3, 3, 3]]');
  },
  async "the library's texts are the server's, too"() {
    await goTo(6, 7);
    await page.keyboard.press('F12');
    await has(page.locator('.tab'), 'nn.relay');
    await has(lines(0), 'nn.dense');
    await page.keyboard.press('Control+Shift+o');
    await choose('nn.dense', '@nn.dense');
  },
};
for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log(`passed: ${name}`);
}
await browser.close();
server.kill();
