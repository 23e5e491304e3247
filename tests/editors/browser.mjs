// The page of `quern serve` in Chromium without a screen:
//   browser.mjs QUERN PAGE CHROMIUM
// With $QUERN_PICTURES a folder, pictures of the page are put there.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

const { chromium } = createRequire(`${process.cwd()}/`)('playwright-core');
const [quern, folder, executablePath] = process.argv.slice(2);
const text = `/// The loss.
def @loss[n](%x: Tensor[(n,), float32]) -> float32 {
  let %s = nn.softmax(%x);
  sum(%s * %s)
}
let %y = @loss([1.0, 2.0]);
`;

/** The server, and its address. */
async function serve() {
  const server = spawn(quern, ['serve', '--port', '0', '--page', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => server.kill());
  const address = await new Promise((done, fail) => {
    server.stdout.once('data', (line) => done(String(line).trim()));
    server.once('exit', () => fail(new Error('the server ends')));
  });
  return { server, address };
}

const { server, address } = await serve();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
const page = await context.newPage();
page.setDefaultTimeout(60_000);
const complaints = [];
page.on('pageerror', (error) => complaints.push(`${error.message}\n${error.stack}`));
page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
page.on('request', (request) => request.url().startsWith('http://127.0.0.1:') || request.url().startsWith('data:') || complaints.push(request.url()));

const status = page.locator('#status');
const source = page.locator('#source .view-lines');
const beside = page.locator('#beside .view-lines');
/** Monaco's lines have spaces that do not break. */
const has = (locator, wanted, what) => within(async () => (await locator.innerText()).replaceAll('\u00a0', ' ').includes(wanted), what ?? wanted, locator);
async function within(holds, what, locator) {
  for (const end = Date.now() + 60_000; ; ) {
    if (await holds()) return;
    if (Date.now() > end) assert.fail(`waited in vain for ${what}: ${locator ? await locator.innerText() : ''}`);
    await page.waitForTimeout(50);
  }
}
const says = (wanted) => has(status, wanted, `the status "${wanted}"`);
async function picture(name) {
  if (process.env.QUERN_PICTURES) await page.screenshot({ path: path.join(process.env.QUERN_PICTURES, `${name}.png`) });
}
/** Puts the text into the source in the place of all that is there. */
async function write(written) {
  await source.click();
  await page.keyboard.press('Control+A');
  await page.evaluate(async (put) => {
    const data = new DataTransfer();
    data.setData('text/plain', put);
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, written);
}

const tests = {
  async 'the page loads, and its token leaves the address'() {
    await page.goto(address);
    assert.equal(page.url(), address.replace(/\?.*/, ''));
    await says('No problems');
    await has(beside, 'let %distance: Tensor[(n,), float32]');
    await picture('first');
  },

  async 'the text of the library is coloured, hinted and explained'() {
    await write(text);
    await says('No problems');
    await has(source, 'let %s: Tensor[(n,), float32] = nn.softmax(%x);', 'an inlay hint');
    const colour = (word) => source.locator('span span', { hasText: word }).first().evaluate((span) => getComputedStyle(span).color);
    assert.notEqual(await colour('softmax'), await colour('let'));
    // A hint that comes late moves the text away from under the mouse.
    await within(async () => {
      await page.mouse.move(0, 0);
      await source.getByText('softmax').first().hover();
      await page.waitForTimeout(1000);
      const box = page.locator('.monaco-hover').first();
      return (await box.count()) > 0 && (await box.innerText()).replaceAll('\u00a0', ' ').includes('nn.softmax');
    }, 'the explanation of nn.softmax');
    await has(page.locator('.monaco-hover').first(), 'axis');
    await picture('hover');
    await page.keyboard.press('Escape');
  },

  async 'the pane follows an edit, and shows each stage'() {
    await page.selectOption('#function', '@loss');
    await has(beside, 'let %s: Tensor[(n,), float32] = nn.softmax(%x)');
    await write(text.replace('softmax', 'log_softmax'));
    await has(beside, 'nn.log_softmax');
    const stages = { ast: 'Def `@loss`', fuse: 'log(sum[r0 < n] exp(%x[r0] - %b[0]))', loops: 'for r0 in 0..n', llvm: 'source_filename', asm: '.text' };
    for (const [stage, wanted] of Object.entries(stages)) {
      await page.selectOption('#stage', stage);
      await has(beside, wanted, `${stage} with ${wanted}`);
      await picture(`stage_${stage}`);
    }
    await page.selectOption('#stage', 'typed');
  },

  async 'the lines that belong to the line of the cursor are marked in the other pane'() {
    await write(text);
    await says('No problems');
    await has(beside, 'nn.softmax');
    const marked = (pane) =>
      page.evaluate((pane) => {
        const top = (element) => Math.round(element.getBoundingClientRect().top);
        const lines = new Map([...document.querySelectorAll(`${pane} .view-line`)].map((line) => [top(line), line.textContent]));
        return [...document.querySelectorAll(`${pane} .belongs`)].map((mark) => lines.get(top(mark))?.replaceAll('\u00a0', ' ').trim());
      }, pane);
    const isMarked = (pane, wanted) => within(async () => JSON.stringify(await marked(pane)) === JSON.stringify(wanted), `${wanted} marked`);
    const softmax = 'let %s: Tensor[(n,), float32] = nn.softmax(%x);';
    await source.getByText('softmax').first().click();
    await isMarked('#beside', [softmax]);
    await picture('lines');
    await beside.getByText('sum').first().click();
    await isMarked('#source', ['sum(%s * %s)']);
    await isMarked('#beside', []);
    await beside.getByText('}').first().click();
    await isMarked('#source', []);
    await source.getByText('softmax').first().click();
    await page.selectOption('#stage', 'loops');
    await has(beside, 'for r0 in 0..n');
    await within(async () => (await marked('#beside')).some((line) => line?.startsWith('for')), 'a loop marked');
    await picture('lines_of_loops');
    await page.selectOption('#stage', 'typed');
    await has(beside, softmax);
  },

  async 'an error is underlined, counted, and takes the place of what it has no answer for'() {
    await write(text.replace('(%x);', '(%missing);'));
    await says('1 error');
    await page.locator('#source .squiggly-error').first().waitFor();
    await has(page.locator('#problem'), '%missing');
    await picture('error');
    await page.selectOption('#stage', 'fuse');
    await within(async () => (await beside.innerText()).trim() === '', 'an empty pane', beside);
    await status.click();
    await has(page.locator('#source .zone-widget'), 'unknown variable');
    await page.keyboard.press('Escape');
    await page.selectOption('#stage', 'typed');
    await write(text);
    await says('No problems');
  },

  async 'completion and signatures come while a call is typed'() {
    await write('');
    await page.keyboard.type('nn.soft');
    await has(page.locator('.suggest-widget'), 'softmax');
    await page.keyboard.press('Escape');
    await page.keyboard.type('max(');
    await has(page.locator('.parameter-hints-widget'), 'axis: int');
    await picture('signature');
    await page.keyboard.press('Escape');
  },

  async 'a name is renamed, and a text laid out'() {
    await write('def @twice(%x: float32) -> float32 {\n%x+%x\n}\n@twice(2.0)\n');
    await says('No problems');
    await source.getByText('@twice').first().click();
    await page.keyboard.press('F2');
    await page.locator('.rename-box input').fill('@double');
    await page.keyboard.press('Enter');
    await has(source, 'def @double');
    await has(source, '@double(2.0)');
    await page.keyboard.press('Control+Shift+I');
    await has(source, '%x + %x');
  },

  async 'a code action writes the type that the text leaves out'() {
    await write('let %value = [1.5, 2.5];\n');
    await says('No problems');
    await has(beside, 'let %value: Tensor[(2,), float32]');  // the list goes when the pane comes
    await source.getByText('%value').first().click();
    await page.keyboard.press('Control+.');
    const action = page.locator('.action-widget').getByText(/type/i).first();
    await action.waitFor();
    await picture('action');
    await page.keyboard.press('Enter');
    const stored = () => page.evaluate(() => sessionStorage.getItem('source'));
    await within(async () => (await stored()) === 'let %value: Tensor[(2,), float32] = [1.5, 2.5];\n', 'the annotation');
    // The function that was chosen is gone: the pane has the whole text.
    await has(beside, 'let %value: Tensor[(2,), float32]');
    assert.equal(await page.inputValue('#function'), '');
    assert.equal(await page.locator('#problem').isVisible(), false);
  },

  async 'a definition of the library takes the place of the source until one goes back'() {
    await write(text);
    await says('No problems');
    await source.getByText('softmax').first().click();
    await page.keyboard.press('F12');
    await has(page.locator('#library-name'), 'nn.relay');
    await has(source, 'nn.softmax');
    await picture('library');
    await page.click('#back');
    await has(source, 'def @loss');
  },

  async 'the text is evaluated, and values stand beside it'() {
    await write('let %x = [1.0, 2.0, 6.0];\nprint("hello");\n// >>> sum(%x)\n');
    await says('No problems');
    await page.click('#evaluate');
    await has(source, '= [1, 2, 6]', 'the value of %x');
    await source.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Control+Enter');
    await has(source, '= 9', 'the value of the comment');
    await has(page.locator('#notice'), '9: float32');
    await page.locator('.codelens-decoration a', { hasText: 'evaluate file' }).first().click();
    await has(page.locator('#notice'), '[1, 2, 6]');
    await picture('evaluated');
    await write('save("/tmp/quern_browser_test.npy", [1.0])');
    await page.click('#evaluate');
    await has(page.locator('#notice'), 'nothing is saved here');
  },

  async 'a shared text comes back from its link'() {
    await write(`${text}// größer → 大\n`);
    await page.click('#share');
    await has(page.locator('#notice'), 'has the text in it');
    const link = page.url();
    assert.match(link, /\/#text=[\w-]+$/);
    const other = await context.newPage();
    await other.goto(link);
    await has(other.locator('#source .view-lines'), '// größer → 大');
    await has(other.locator('#status'), 'No problems');
    // What is written since is not lost to the link, which is to another text.
    await other.locator('#source .view-lines').click();
    await other.keyboard.type('1 + 2');
    await other.reload();
    await has(other.locator('#source .view-lines'), '1 + 2');
    await other.goto(link.slice(0, -9));
    await has(other.locator('#notice'), 'the link is not whole');
    await other.close();
  },

  async 'examples replace the text, and can be undone'() {
    await page.selectOption('#examples', { label: 'A schedule by hand' });
    await has(source, 'my.dense');
    await says('No problems');
    await page.keyboard.press('Control+Z');
    await has(source, 'größer');
  },

  async 'the page is dark where it is wanted, and narrow'() {
    await page.selectOption('#examples', { label: 'Capsule convolution' });
    await says('No problems');
    await page.selectOption('#stage', 'loops');
    await within(async () => (await beside.innerText()).includes('for'), 'loops', beside);
    await picture('light');
    await page.click('#theme');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await picture('dark');
    await page.setViewportSize({ width: 800, height: 900 });
    const boxes = await Promise.all(['#source', '#beside'].map((id) => page.locator(id).boundingBox()));
    assert.ok(boxes[0].y + boxes[0].height <= boxes[1].y, 'the panes are not stacked');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 800);
    await picture('narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('#splitter').focus();
    const before = (await page.locator('#source').boundingBox()).width;
    await page.keyboard.press('ArrowLeft');
    assert.ok((await page.locator('#source').boundingBox()).width < before, 'the splitter does not move');
  },

  async 'another browser, without the token, is told so'() {
    const stranger = await browser.newContext();
    const tab = await stranger.newPage();
    const response = await tab.goto(new URL(address).origin);
    assert.equal(response.status(), 403);
    assert.match(await tab.innerText('body'), /open the address that `quern serve` printed/);
    await stranger.close();
  },

  async 'nothing was complained of, and the end of the server is told'() {
    assert.deepEqual(complaints, []);
    server.kill();
    await says('The server has ended');
    await picture('ended');
  },
};

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  try {
    await run();
    console.log(`ok: ${name}`);
  } catch (error) {
    failed += 1;
    console.error(`failed: ${name}\n`, error, complaints);
    await picture(`failed_${failed}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
