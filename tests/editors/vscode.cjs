// The packaged extension in an editor that is made up: as much of the module `vscode` as it touches.
//   vscode.cjs EXTENSION QUERN
// The extension starts the server, shows its diagnostics and hovers, its commands do what they say.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');

const [, , extension, quern] = process.argv;

class Disposable {
  constructor(act = () => {}) {
    this.dispose = act;
  }
  static from(...all) {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
}
class EventEmitter {
  listeners = new Set();
  event = (listener, self) => {
    const bound = listener.bind(self);
    this.listeners.add(bound);
    return new Disposable(() => this.listeners.delete(bound));
  };
  fire(value) {
    return Promise.all([...this.listeners].map((listener) => listener(value)));
  }
  dispose() {}
}
class Uri {
  constructor({ scheme, authority = '', path: where = '', query = '', fragment = '' }) {
    Object.assign(this, { scheme, authority, path: where, query, fragment, fsPath: where });
  }
  static from = (parts) => new Uri(parts);
  static file = (where) => new Uri({ scheme: 'file', path: where });
  static parse(text) {
    const [, scheme, where, query = ''] = /^([\w-]+):(?:\/\/)?([^?]*)\??(.*)$/s.exec(text);
    return new Uri({ scheme, path: decodeURIComponent(where), query: decodeURIComponent(query) });
  }
  toString() {
    const query = this.query ? `?${encodeURIComponent(this.query)}` : '';
    return `${this.scheme}:${this.scheme === 'file' ? '//' : ''}${encodeURI(this.path)}${query}`;
  }
}
class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(...ends) {
    const [start, end] = ends.length === 2 ? ends : [new Position(ends[0], ends[1]), new Position(ends[2], ends[3])];
    Object.assign(this, { start, end });
  }
}
class Document {
  constructor(uri, languageId, text) {
    Object.assign(this, { uri, languageId, text, version: 1, isClosed: false, fileName: uri.fsPath });
  }
  getText = () => this.text;
  get lineCount() {
    return this.text.split('\n').length;
  }
  save = async () => true;
  positionAt(offset) {
    const before = this.text.slice(0, offset).split('\n');
    return new Position(before.length - 1, before.at(-1).length);
  }
}

/** What nothing here looks at: any member of it, called or constructed, is such a thing again. */
function anything(known = {}) {
  const target = Object.assign(function () {}, {});
  return new Proxy(target, {
    get: (_, name) => {
      if (name in known) return known[name];
      if (typeof name === 'string' && /^on(Did|Will)[A-Z]/.test(name)) return new EventEmitter().event;
      if (name === 'then' || typeof name === 'symbol') return undefined;
      if (name === 'prototype') return target.prototype;
      return (known[name] = anything());
    },
    set: (_, name, value) => ((known[name] = value), true),
    has: () => true,
    apply: () => new Disposable(),
    construct: (_, args) => anything({ args }),
  });
}

const diagnostics = new Map();
const commands = new Map();
const contents = new Map();
const providers = {};
const said = [];
const told = [];
const settings = { path: quern };
const configured = new EventEmitter();
const opened = new EventEmitter();
const closed = new EventEmitter();
const changed = new EventEmitter();
const selected = new EventEmitter();
const tasks = [];
const documents = [];
const tabs = [];
const tabsChanged = new EventEmitter();
const activated = new EventEmitter();
const picks = [];
const states = [];
/** The item in the status bar; `states` has all texts that it had. */
const status = {
  isShown: false,
  set text(text) {
    if (states.at(-1) !== text) states.push(text);
  },
  show: () => (status.isShown = true),
  hide: () => (status.isShown = false),
  dispose() {},
};
const register = (kind) => (_selector, provider) => {
  providers[kind] = provider;
  return new Disposable(() => delete providers[kind]);
};

const workspace = anything({
  textDocuments: documents,
  workspaceFolders: undefined,
  getWorkspaceFolder: () => undefined,
  getConfiguration: () => ({ get: (name, otherwise) => settings[name] ?? otherwise, has: () => false, inspect: () => undefined }),
  onDidChangeConfiguration: configured.event,
  onDidOpenTextDocument: opened.event,
  onDidCloseTextDocument: closed.event,
  onDidChangeTextDocument: changed.event,
  registerTextDocumentContentProvider: (scheme, provider) => (contents.set(scheme, provider), new Disposable()),
  createFileSystemWatcher: () => anything({ dispose() {} }),
  openTextDocument: async (uri) => {
    const text = await contents.get(uri.scheme).provideTextDocumentContent(uri);
    const document = new Document(uri, 'plaintext', text);
    documents.push(document);
    return document;
  },
});
const shows = [];
const window = anything({
  activeTextEditor: undefined,
  visibleTextEditors: [],
  onDidChangeTextEditorSelection: selected.event,
  tabGroups: anything({ all: [{ tabs }], onDidChangeTabs: tabsChanged.event }),
  createOutputChannel: () => anything({ append: (text) => said.push(text), appendLine: (text) => said.push(text), show: () => said.push('the log is shown') }),
  createStatusBarItem: () => status,
  onDidChangeActiveTextEditor: activated.event,
  createTextEditorDecorationType: (options) => ({ ...options, dispose() {} }),
  showTextDocument: async (document, options) => void shows.push({ document, ...options }),
  showErrorMessage: async (text) => void (said.push(text), told.push(text)),
  setStatusBarMessage: (text) => (said.push(text), new Disposable()),
  showInformationMessage: async (text) => void said.push(text),
  showQuickPick: async (items) => {
    picks.push(items.map(({ label }) => label));
    return items.find(({ label }) => ['@twice', 'typed', 'Show Log'].includes(label));
  },
});
const languages = anything({
  match: (selector, { languageId, uri }) => ([selector].flat().some(({ language, scheme }) => language === languageId && scheme === uri.scheme) ? 10 : 0),
  getLanguages: async () => ['quern', 'plaintext'],
  setTextDocumentLanguage: async (document, languageId) => {
    await closed.fire(document);
    await opened.fire(Object.assign(document, { languageId }));
  },
  createDiagnosticCollection: () =>
    anything({
      set: (uri, list) => diagnostics.set(uri.toString(), list),
      delete: (uri) => diagnostics.delete(uri.toString()),
    }),
  registerHoverProvider: register('hover'),
  registerCompletionItemProvider: register('completion'),
});

class Plain {
  constructor(...args) {
    this.args = args;
  }
}
const vscode = anything({
  version: '1.91.0',
  Disposable, EventEmitter, Uri, Position, Range, workspace, window, languages,
  CancellationTokenSource: class {
    token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event };
    cancel() {}
    dispose() {}
  },
  CancellationError: class extends Error {},
  TabInputText: class {
    constructor(uri) {
      this.uri = uri;
    }
  },
  Diagnostic: class {
    constructor(range, message, severity) {
      Object.assign(this, { range, message, severity });
    }
  },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  Hover: class {
    constructor(text, range) {
      Object.assign(this, { contents: text, range });
    }
  },
  MarkdownString: class {
    constructor(value = '') {
      this.value = value;
    }
    appendCodeblock(code) {
      this.value += code;
    }
  },
  CompletionItem: class {
    constructor(label, kind) {
      Object.assign(this, { label, kind });
    }
  },
  CompletionList: class {
    constructor(items, isIncomplete) {
      Object.assign(this, { items, isIncomplete });
    }
  },
  SnippetString: class {
    constructor(value) {
      this.value = value;
    }
  },
  ProcessExecution: Plain,
  Task: Plain,
  TaskScope: { Global: 1 },
  TaskRevealKind: { Always: 1 },
  ViewColumn: { Beside: -2 },
  tasks: anything({ executeTask: async (task) => void tasks.push(task) }),
  commands: anything({
    registerCommand: (name, act) => (commands.set(name, act), new Disposable(() => commands.delete(name))),
  }),
  env: anything({ language: 'en', appName: 'test' }),
  l10n: { t: (text) => text },
});

// Bundles copy a module's own members, and take what it inherits as it is.
const load = Module._load;
Module._load = (request, ...rest) => (request === 'vscode' ? Object.create(vscode) : load(request, ...rest));

async function until(what, condition) {
  const begin = Date.now();
  for (;;) {
    const value = condition();
    if (value) return value;
    if (Date.now() - begin > 30000) throw new Error(`waited in vain for ${what}; said: ${said.join('\n')}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'quern_vscode_'));
  const file = path.join(folder, 'a b.relay');
  const text = 'def @twice(%x: float32) { %x + %x }\nlet %a = ones((2, 3));\n%a + %missing\n';
  fs.writeFileSync(file, text);
  const context = { subscriptions: [] };
  const { activate, deactivate } = require(extension);
  await activate(context);
  const { commands: declared, snippets = [] } = require(path.join(extension, '../../package.json')).contributes;
  assert.deepEqual(states, ['$(sync~spin) Quern', '$(check) Quern']);
  // Those of the server are the client's to register, and stand in no menu.
  const servers = ['quern.evaluate', 'quern.evaluateFile', 'quern.runTests', 'quern.time', 'quern.show'];
  assert.deepEqual([...commands.keys()].filter((name) => name.startsWith('quern.')).sort(), [...declared.map(({ command }) => command), ...servers].sort());

  const document = new Document(Uri.file(file), 'quern', text);
  documents.push(document);
  window.activeTextEditor = { document, selection: { active: new Position(0, 0) }, setDecorations() {} };
  // The client asks for the diagnostics of what a tab shows.
  tabs.push({ input: new vscode.TabInputText(document.uri) });
  tabsChanged.fire({ opened: tabs, closed: [], changed: [] });
  await opened.fire(document);
  const uri = document.uri.toString();
  const [diagnostic] = await until('a diagnostic', () => diagnostics.get(uri)?.length && diagnostics.get(uri));
  assert.match(diagnostic.message, /%missing/);
  assert.deepEqual({ ...diagnostic.range.start }, { line: 2, character: 5 });
  const hover = await providers.hover.provideHover(document, new Position(1, 5), { onCancellationRequested: new EventEmitter().event });
  assert.match(JSON.stringify(hover.contents), /Tensor\[\(2, 3\), float32\]/);

  // Each word is offered once: by the server, with its snippet.
  assert.deepEqual(snippets, []);
  const completed = await providers.completion.provideCompletionItems(document, new Position(0, 3), { onCancellationRequested: new EventEmitter().event }, {});
  const offered = (completed.items ?? completed).filter(({ label }) => label === 'def');
  assert.equal(offered.length, 1);
  assert.match(JSON.stringify(offered[0]), /def @\$\{1:name\}/);

  // The state of the server stands where one writes in the language.
  await activated.fire(window.activeTextEditor);
  assert.ok(status.isShown);
  await commands.get('quern.status')();
  assert.deepEqual(picks.pop(), ['Show Log', 'Restart Language Server', 'Open Settings']);
  assert.ok(said.includes('the log is shown'));

  window.activeTextEditor.selection = { active: new Position(1, 0), start: new Position(1, 9), end: new Position(1, 21) };
  await commands.get('quern.evaluateSelection')();
  assert.ok(said.some((text) => text.includes('[[1, 1, 1], [1, 1, 1]]: Tensor[(2, 3), float32]')), said.join('\n'));

  // Also where the file is on another machine than the editor.
  for (const { command, enablement } of declared) assert.ok(!enablement || enablement.includes('vscode-remote'), command);

  // What the cursor is in comes first: a definition, or the statements below and between them.
  for (const [line, first] of [[0, '@twice'], [1, 'All statements'], [3, 'All statements']]) {
    window.activeTextEditor.selection = { active: new Position(line, 0), start: new Position(line, 0), end: new Position(line, 0) };
    picks.length = 0;
    await commands.get('quern.showIr')();
    assert.equal(picks[0][0], first);
    assert.deepEqual([...picks[0]].sort(), ['@twice', 'All statements']);
  }

  // The IR of a definition, whatever is wrong elsewhere, and anew after a change.
  const shown = documents.at(-1);
  assert.equal(shown.uri.scheme, 'quern-ir');
  assert.equal(shown.languageId, 'quern');
  assert.match(shown.text, /@twice\(%x: float32\) -> float32/);
  let renewed;
  contents.get('quern-ir').onDidChange((which) => (renewed = which));
  const edit = { range: new Range(2, 5, 2, 13), rangeOffset: 64, rangeLength: 8, text: '%a' };
  Object.assign(document, { text: text.replace('%missing', '%a'), version: 2 });
  fs.writeFileSync(file, document.text);
  await changed.fire({ document, contentChanges: [edit] });
  await until('the mended text', () => !diagnostics.get(uri)?.length);
  assert.equal((await until('another IR', () => renewed)).toString(), shown.uri.toString());
  const ir = await contents.get('quern-ir').provideTextDocumentContent(renewed);
  assert.match(ir, /@twice\(%x: float32\) -> float32/);

  // What belongs to the cursor's line is marked in the other editor, while the text is what the IR was made of.
  const editorOf = (document) => {
    const setDecorations = ({ opacity }, list) => {
      if (opacity) editor.greyed = list.map(({ range, hoverMessage }) => [range.start.line, range.end.line, hoverMessage]);
      else editor.marked = list.map(({ start, end }) => [start.line, end.line]);
    };
    const editor = { document, marked: [], greyed: [], shows: [], visibleRanges: [], setDecorations, revealRange: ({ start }) => editor.shows.push(start.line) };
    return editor;
  };
  const [source, beside] = (window.visibleTextEditors = [editorOf(document), editorOf(shown)]);
  const move = (textEditor, line) => {
    textEditor.selection = { active: new Position(line, 0) };
    return selected.fire({ textEditor });
  };
  await move(source, 0);
  assert.deepEqual([source.marked, beside.marked, beside.shows], [[], [[0, 1]], [0]]);
  await move(source, 1);
  assert.deepEqual(beside.marked, []);
  await move(beside, 1);
  assert.deepEqual([source.marked, beside.marked], [[[0, 0]], []]);
  await move(beside, 2);
  assert.deepEqual(source.marked, []);
  const mended = document.text;
  Object.assign(document, { version: 3, text: mended.replace('%x + %x', '%x + %y') });
  await move(source, 0);
  assert.deepEqual(beside.marked, []);
  // While what is shown has errors, the last text stays, greyed.
  const change = (text) => changed.fire({ document, contentChanges: [{ range: new Range(0, 31, 0, 33), rangeOffset: 31, rangeLength: 2, text }] });
  await change('%y');
  assert.equal(await contents.get('quern-ir').provideTextDocumentContent(renewed), ir);
  assert.match(JSON.stringify(beside.greyed), /^\[\[0,\d+,"`@twice`, or what it needs, has errors/);
  Object.assign(document, { version: 4, text: mended });
  await change('%x');
  assert.equal(await contents.get('quern-ir').provideTextDocumentContent(renewed), ir);
  assert.deepEqual(beside.greyed, []);
  window.visibleTextEditors = [];

  // What a lens names is shown beside the source too.
  await commands.get('quern.show')({ uri, function: 'twice', stage: 'derivative' });
  const { document: derivative, viewColumn } = await until('the gradient', () => shows.find(({ document }) => /def @grad_twice/.test(document.text)));
  assert.deepEqual([derivative.uri.path, viewColumn], ['/a b.relay @twice (derivative)', vscode.ViewColumn.Beside]);

  // The library's texts are the server's documents.
  const library = new Document(Uri.parse('quern:/library/nn.relay'), 'quern', '');
  library.text = await contents.get('quern').provideTextDocumentContent(library.uri);
  await opened.fire(library);
  const line = library.text.split('\n').findIndex((text) => text.startsWith('  let %e = exp('));
  assert.match(JSON.stringify(await providers.hover.provideHover(library, new Position(line, 12), { onCancellationRequested: new EventEmitter().event })), /op exp/);

  await commands.get('quern.run')();
  assert.deepEqual(tasks[0].args[4].args.slice(0, 2), [quern, ['run', file]]);

  // Another program, which is none, and the first one again.
  settings.path = path.join(folder, 'nothing');
  await configured.fire({ affectsConfiguration: (name) => name === 'quern.path' });
  await until('what is wrong', () => said.find((line) => line.includes('nothing lsp') && line.includes('quern.path')));
  assert.equal(told.length, 1, told.join('\n'));
  await until('its state', () => states.at(-1) === '$(error) Quern');
  settings.path = quern;
  diagnostics.clear();
  Object.assign(document, { text, version: 5 });
  await commands.get('quern.restart')();
  await until('a diagnostic of the new server', () => diagnostics.get(uri)?.length);
  assert.equal(states.at(-1), '$(check) Quern');

  // A check that takes its time is seen.
  const lines = Array.from({ length: 20000 }, (_, i) => `let %x${i} = nn.softmax(ones((${i + 1}, 8)));\n`);
  const long = new Document(Uri.file(path.join(folder, 'long.relay')), 'quern', lines.join(''));
  documents.push(long);
  tabs.push({ input: new vscode.TabInputText(long.uri) });
  tabsChanged.fire({ opened: tabs.slice(-1), closed: [], changed: [] });
  states.length = 0;
  await opened.fire(long);
  await until('the end of the check', () => states.at(-1) === '$(check) Quern');
  assert.deepEqual(states, ['$(sync~spin) Quern', '$(check) Quern']);
  await deactivate();
  fs.rmSync(folder, { recursive: true });
  console.log('the extension works');
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
