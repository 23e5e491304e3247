// The language server and a client that is not ours: the packages vscode-jsonrpc and vscode-languageserver-protocol.
//   protocol.mjs QUERN
// What the server announces is asked for, and the shape of each answer is checked: a capability without a row here fails.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const require = createRequire(`${process.cwd()}/`);
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-languageserver-protocol/node');

const quern = process.argv[2];
const uri = 'file:///tmp/editors%20test.relay';
const text = 'def @twice(%x: float32) -> float32 { %x + %x }\nlet %a = nn.relu(ones((2, 3)));\n%a + %missing;\n@twice(2.0)\n';
const at = (line, character) => ({ line, character });
const document = { uri };

class Server {
  constructor() {
    this.child = spawn(quern, ['lsp'], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.ended = new Promise((done) => this.child.on('exit', (code, signal) => done({ code, signal })));
    this.published = [];
    this.waiting = [];
  }
  async connect(capabilities = {}) {
    this.connection = createProtocolConnection(new StreamMessageReader(this.child.stdout), new StreamMessageWriter(this.child.stdin));
    this.connection.onRequest((method) => (method === 'workspace/configuration' ? [] : null));
    this.connection.onNotification('textDocument/publishDiagnostics', (params) => {
      this.published.push(params);
      for (const look of this.waiting) look();
    });
    this.connection.listen();
    return this.ask('initialize', { processId: process.pid, rootUri: null, capabilities });
  }
  ask = (method, params) => within(this.connection.sendRequest(method, params), method);
  tell = (method, params) => this.connection.sendNotification(method, params);
  async open(content = text, version = 1) {
    await this.tell('initialized', {});
    await this.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'quern', version, text: content } });
  }
  /** The diagnostics of a version, once they are there. */
  diagnostics(version) {
    return within(
      new Promise((done) => {
        const look = () => {
          const found = this.published.findLast((params) => params.uri === uri && params.version === version);
          if (found) done(found.diagnostics);
        };
        this.waiting.push(look);
        look();
      }),
      `the diagnostics of version ${version}`,
    );
  }
  async end() {
    await this.ask('shutdown');
    await this.tell('exit');
    assert.deepEqual(await within(this.ended, 'the end'), { code: 0, signal: null });
  }
}

function within(promise, what, seconds = 60) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no answer: ${what}`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
const refused = async (promise, code) => assert.equal((await promise.then(() => assert.fail('is answered'), (error) => error)).code, code);

// --- the shapes of answers ----------------------------------------------------------------------------------------------
const isPosition = (value) => assert.ok(Number.isInteger(value.line) && value.line >= 0 && Number.isInteger(value.character), JSON.stringify(value));
function isRange(range) {
  isPosition(range.start);
  isPosition(range.end);
  assert.ok(range.start.line < range.end.line || (range.start.line === range.end.line && range.start.character <= range.end.character));
}
const isString = (value) => assert.equal(typeof value, 'string', JSON.stringify(value));
const each = (check) => (list) => {
  assert.ok(Array.isArray(list), JSON.stringify(list));
  list.forEach(check);
};
const orNull = (check) => (value) => value === null || check(value);
const isEdit = (edit) => (isRange(edit.range), isString(edit.newText));
const isLocation = (location) => {
  isString(location.uri ?? location.targetUri);
  isRange(location.range ?? location.targetSelectionRange);
};
const isLocations = orNull((found) => [found].flat().forEach(isLocation));
const isWorkspaceEdit = orNull((edit) => assert.ok(edit.changes || edit.documentChanges));
const isSymbol = (symbol) => {
  isString(symbol.name);
  assert.ok(Number.isInteger(symbol.kind));
  isRange(symbol.range ?? symbol.location.range);
  (symbol.children ?? []).forEach(isSymbol);
};
function isTokens(tokens) {
  assert.ok(Array.isArray(tokens.data) && tokens.data.length % 5 === 0 && tokens.data.every((one) => Number.isInteger(one) && one >= 0));
}
const isItem = (item) => (isString(item.label), item.textEdit && isRange(item.textEdit.range ?? item.textEdit.insert));
const isCommand = (command) => (isString(command.title), isString(command.command));

const all = { start: at(0, 0), end: at(4, 0) };
const options = { tabSize: 2, insertSpaces: true };
const ask = (method, params, check) => ({ method: `textDocument/${method}`, params: { textDocument: document, ...params }, check });
const onUse = { position: at(1, 13) };
const onFunction = { position: at(3, 2) };
/** Of each capability what to ask, and what holds of the answer. */
const capabilities = {
  positionEncoding: [],
  textDocumentSync: [],
  workspace: [],
  executeCommandProvider: [
    {
      method: 'workspace/executeCommand',
      params: { command: 'quern.evaluate', arguments: [{ uri, range: { start: at(1, 9), end: at(1, 30) } }] },
      check: ({ parts, problems, output }) => {
        assert.deepEqual(problems, []);
        assert.equal(parts[0].type, 'Tensor[(2, 3), float32]');
        isRange(parts[0].range);
        isString(output);
      },
    },
  ],
  experimental: [],
  hoverProvider: [ask('hover', onUse, (hover) => isString(hover.contents.value))],
  documentHighlightProvider: [ask('documentHighlight', { position: at(2, 1) }, each(({ range }) => isRange(range)))],
  completionProvider: [ask('completion', onUse, (found) => each(isItem)(found.items ?? found))],
  signatureHelpProvider: [ask('signatureHelp', { position: at(1, 17) }, orNull((help) => each(({ label }) => isString(label))(help.signatures)))],
  definitionProvider: [ask('definition', onFunction, isLocations)],
  declarationProvider: [ask('declaration', onFunction, isLocations)],
  typeDefinitionProvider: [ask('typeDefinition', onFunction, isLocations)],
  implementationProvider: [ask('implementation', onFunction, isLocations)],
  referencesProvider: [ask('references', { ...onFunction, context: { includeDeclaration: true } }, orNull(each(isLocation)))],
  renameProvider: [
    ask('rename', { ...onFunction, newName: '@double' }, isWorkspaceEdit),
    ask('prepareRename', onFunction, orNull((place) => isRange(place.range ?? place))),
  ],
  documentSymbolProvider: [ask('documentSymbol', {}, each(isSymbol))],
  workspaceSymbolProvider: [{ method: 'workspace/symbol', params: { query: 'twice' }, check: orNull(each(({ name }) => isString(name))) }],
  foldingRangeProvider: [ask('foldingRange', {}, orNull(each(({ startLine, endLine }) => assert.ok(startLine <= endLine))))],
  selectionRangeProvider: [ask('selectionRange', { positions: [at(1, 13)] }, each(({ range }) => isRange(range)))],
  callHierarchyProvider: [ask('prepareCallHierarchy', onFunction, orNull(each((item) => (isString(item.name), isRange(item.range)))))],
  typeHierarchyProvider: [ask('prepareTypeHierarchy', onFunction, orNull(each((item) => isString(item.name))))],
  semanticTokensProvider: [ask('semanticTokens/full', {}, isTokens), ask('semanticTokens/range', { range: all }, isTokens)],
  inlayHintProvider: [ask('inlayHint', { range: all }, orNull(each(({ position, label }) => (isPosition(position), assert.ok(label)))))],
  documentFormattingProvider: [ask('formatting', { options }, orNull(each(isEdit)))],
  documentRangeFormattingProvider: [ask('rangeFormatting', { options, range: all }, orNull(each(isEdit)))],
  documentOnTypeFormattingProvider: [ask('onTypeFormatting', { options, position: at(0, 46), ch: '}' }, orNull(each(isEdit)))],
  codeActionProvider: [
    ask('codeAction', { range: all, context: { diagnostics: [] } }, orNull(each(({ title }) => isString(title)))),
    { method: 'codeAction/resolve', params: { title: 'a fix' }, check: ({ title }) => isString(title) },
  ],
  codeLensProvider: [ask('codeLens', {}, orNull(each((lens) => (isRange(lens.range), lens.command && isCommand(lens.command)))))],
  documentLinkProvider: [ask('documentLink', {}, orNull(each(({ range }) => isRange(range))))],
  linkedEditingRangeProvider: [ask('linkedEditingRange', onFunction, orNull(({ ranges }) => each(isRange)(ranges)))],
  diagnosticProvider: [ask('diagnostic', {}, (report) => assert.ok(['full', 'unchanged'].includes(report.kind)))],
};

const tests = {
  async 'edits, diagnostics with their versions, hover'() {
    const server = new Server();
    await server.connect();
    await server.open();
    const [found, ...others] = await server.diagnostics(1);
    assert.equal(others.length, 0);
    assert.deepEqual(found.range, { start: at(2, 5), end: at(2, 13) });
    assert.equal(found.code, 'Q0201');
    const change = (version, ...contentChanges) => server.tell('textDocument/didChange', { textDocument: { uri, version }, contentChanges });
    await change(2, { range: found.range, text: '%a' });
    assert.deepEqual(await server.diagnostics(2), []);
    // The second change counts in the text that the first one made.
    await change(3, { range: { start: at(0, 0), end: at(0, 0) }, text: '\n' }, { range: { start: at(3, 5), end: at(3, 7) }, text: '%q' });
    assert.deepEqual((await server.diagnostics(3))[0].range, { start: at(3, 5), end: at(3, 7) });
    const hover = await server.ask('textDocument/hover', { textDocument: document, position: at(2, 5) });
    assert.match(hover.contents.value, /Tensor\[\(2, 3\), float32\]/);
    isRange(hover.range);
    await server.end();
  },

  async 'every capability that is announced'() {
    const server = new Server();
    const announced = (await server.connect()).capabilities;
    await server.open();
    await server.diagnostics(1);
    for (const [name, value] of Object.entries(announced)) {
      assert.ok(name in capabilities, `${name} is announced; say in protocol.mjs what to ask`);
      for (const { method, params, check } of value === false ? [] : capabilities[name]) {
        if (method.endsWith('/range') && !value.range) continue;
        if (method.endsWith('prepareRename') && !value.prepareProvider) continue;
        try {
          check(await server.ask(method, params));
          // Places that are nowhere, and documents that are not open, are answered or refused.
          await server.ask(method, { ...params, position: at(70000, 70000), range: { start: at(9, 9), end: at(70000, 0) } }).catch(() => {});
          await server.ask(method, { ...params, textDocument: { uri: 'file:///nowhere.relay' } }).catch(() => {});
        } catch (error) {
          error.message = `${method}: ${error.message}`;
          throw error;
        }
      }
    }
    await server.end();
  },

  async 'what is no request of the protocol'() {
    const connected = new Server();
    connected.connection = createProtocolConnection(new StreamMessageReader(connected.child.stdout), new StreamMessageWriter(connected.child.stdin));
    connected.connection.listen();
    await refused(connected.ask('textDocument/hover', { textDocument: document, position: at(0, 0) }), -32002);
    await connected.ask('initialize', { processId: null, rootUri: null, capabilities: {} });
    await refused(connected.ask('textDocument/nothing', {}), -32601);
    await refused(connected.ask('textDocument/hover', { position: 'here' }), -32602);
    await connected.ask('shutdown');
    await refused(connected.ask('textDocument/hover', { textDocument: document, position: at(0, 0) }), -32600);
    await connected.tell('exit');
    assert.equal((await within(connected.ended, 'the end')).code, 0);
  },

  async 'messages that are broken'() {
    const { child } = new Server();
    let said = '';
    child.stdout.on('data', (data) => (said += data));
    const until = (wanted) =>
      within(
        new Promise((done) => {
          const look = () => wanted.test(said) && done();
          child.stdout.on('data', look);
          look();
        }),
        `${wanted} in ${said}`,
      );
    const framed = (body, length = Buffer.byteLength(body)) => `Content-Length: ${length}\r\n\r\n${body}`;
    child.stdin.write(framed('{"jsonrpc": "2.0", "id": 1, '));
    await until(/-32700/);
    const start = '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"capabilities":{}}}';
    child.stdin.write(`Content-Length: many\r\n\r\nwhat is no message\r\n${framed(start)}`);
    await until(/"id":2/);
    // Too short a length cuts a message: it is refused, and the next one is found.
    child.stdin.write(`${framed('{"jsonrpc":"2.0","id":3,"method":"x"}', 10)}\r\n\r\n${framed('{"jsonrpc":"2.0","id":4,"method":"textDocument/nothing"}')}`);
    await until(/"id":4/);
    child.kill();
  },

  async 'a client that dies'() {
    const server = new Server();
    await server.connect();
    await server.open();
    server.child.stdin.end();
    server.child.stdout.destroy();
    const { signal } = await within(server.ended, 'the end');
    assert.equal(signal, null);
  },
};

for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`✓ ${name}`);
  } catch (error) {
    console.log(`✗ ${name}\n${error.stack}`);
    process.exitCode = 1;
  }
}
process.exit();
