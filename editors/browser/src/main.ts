// The page: the source, what it becomes beside it, and what the header offers.

import 'monaco-editor/features/register.all.js';
import './page.css';
import * as monaco from 'monaco-editor/editor.js';
import type * as lsp from 'vscode-languageserver-protocol';
import { Connection } from './connection';
import { Documents, isLibrary, language } from './documents';
import { registerEvaluation } from './evaluate';
import { examples } from './examples';
import { capabilities, registerFeatures } from './features';
import { defineLanguages } from './languages';
import { fragmentOf, textOf } from './share';
import { makeSplitter } from './splitter';
import { StagePane } from './stage_pane';

const element = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind;

globalThis.MonacoEnvironment = { getWorker: () => new Worker('editor.worker.js', { type: 'module' }) };
defineLanguages();

// --- the theme --------------------------------------------------------------------------------------------------------
const darkWanted = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (localStorage.getItem('theme') ?? (darkWanted.matches ? 'dark' : 'light')) === 'dark';
function applyTheme(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  element('theme').textContent = isDark() ? 'Light' : 'Dark';
  monaco.editor.setTheme(isDark() ? 'dark' : 'light');
}
element('theme').addEventListener('click', () => {
  localStorage.setItem('theme', isDark() ? 'light' : 'dark');
  applyTheme();
});
darkWanted.addEventListener('change', applyTheme);

// --- the editors ------------------------------------------------------------------------------------------------------
const common: monaco.editor.IStandaloneEditorConstructionOptions = {
  model: null,
  automaticLayout: true,
  minimap: { enabled: false },
  scrollBeyondLastLine: false,
  fontSize: 13,
  lineNumbersMinChars: 4,
  fixedOverflowWidgets: true,
  stickyScroll: { enabled: false },
  padding: { top: 6, bottom: 6 },
  overviewRulerBorder: false,
  unicodeHighlight: { ambiguousCharacters: false },
};
const source = monaco.editor.createModel('', language, monaco.Uri.parse('untitled:page.relay'));
const editor = monaco.editor.create(element('source'), {
  ...common,
  model: source,
  ariaLabel: 'Source',
  tabSize: 2,
  detectIndentation: false,
  'semanticHighlighting.enabled': true,
  wordBasedSuggestions: 'off',
  inlayHints: { enabled: 'on', fontSize: 12 },
});
const beside = monaco.editor.create(element('beside'), {
  ...common,
  ariaLabel: 'What the source becomes',
  readOnly: true,
  renderLineHighlight: 'none',
});

/** Colours say what words are, and nothing of brackets. */
const plainBrackets = (model: monaco.editor.ITextModel) =>
  model.updateOptions({ bracketColorizationOptions: { enabled: false, independentColorPoolPerBracketType: false } });
monaco.editor.onDidCreateModel(plainBrackets);
plainBrackets(source);

/** Goes to a place in the source or in a file of the library, which takes the source's place until `Back`. */
function show(model: monaco.editor.ITextModel, at?: monaco.IRange | monaco.IPosition): void {
  editor.setModel(model);
  editor.updateOptions({ readOnly: isLibrary(model) });
  element('library').hidden = !isLibrary(model);
  element('library-name').textContent = isLibrary(model) ? `${model.uri.path.split('/').at(-1)}, of the library` : '';
  const place = at && ('startLineNumber' in at ? monaco.Range.getStartPosition(at) : at);
  if (place) {
    editor.setPosition(place);
    editor.revealPositionInCenter(place);
  }
  editor.focus();
}
monaco.editor.registerEditorOpener({
  openCodeEditor(_, resource, at) {
    const model = monaco.editor.getModel(resource);
    if (model) show(model, at);
    return model !== null;
  },
});
let left: monaco.Position | null = null;
editor.onDidChangeCursorPosition(({ position }) => {
  if (editor.getModel() === source) left = position;
});
element('back').addEventListener('click', () => show(source, left ?? undefined));

// --- what the server says ---------------------------------------------------------------------------------------------
let told = '';
function say(text: string): void {
  told = text;
  countProblems();
}
/** What was said last, or how many problems there are. */
function countProblems(): void {
  const markers = monaco.editor.getModelMarkers({ owner: language, resource: source.uri });
  const count = (severity: monaco.MarkerSeverity, what: string) => {
    const found = markers.filter((marker) => marker.severity === severity).length;
    return found ? [`${found} ${what}${found > 1 ? 's' : ''}`] : [];
  };
  const counts = [...count(monaco.MarkerSeverity.Error, 'error'), ...count(monaco.MarkerSeverity.Warning, 'warning')];
  element('status').textContent = told || counts.join(', ') || 'No problems';
  element('status').classList.toggle('wrong', told !== '' || counts.length > 0);
}
monaco.editor.onDidChangeMarkers(countProblems);
element('status').addEventListener('click', () => {
  show(source, left ?? undefined);
  void editor.getAction('editor.action.marker.next')?.run();
});

async function connect(): Promise<void> {
  say('Connecting…');
  const gone = 'The server has ended: start `quern serve` again and open its address';
  const connection = await Connection.open(`ws://${location.host}/lsp`, () => say(gone)).catch(() => null);
  if (!connection) return say(gone);
  const { capabilities: server } = await connection.request<lsp.InitializeResult>('initialize', {
    processId: null,
    rootUri: null,
    capabilities,
  });
  connection.notify('initialized', {});
  connection.on<lsp.ShowMessageParams>('window/showMessage', ({ message }) => notify(message));
  registerFeatures(connection, new Documents(connection), server);
  registerEvaluation(connection, editor, element('evaluate'), notify);
  const pane = new StagePane(connection, source, editor, beside, element('stage'), element('function'), element('problem'));
  await pane.start();
  say('');
}

// --- texts ------------------------------------------------------------------------------------------------------------
/** A line that goes by itself. */
let notice: number | undefined;
function notify(text: string): void {
  element('notice').textContent = text;
  clearTimeout(notice);
  notice = window.setTimeout(() => (element('notice').textContent = ''), 6000);
}

async function textOfLink(): Promise<string | undefined> {
  return textOf(location.hash).catch((error: Error) => {
    notify(`The text of the link cannot be read: ${error.message}.`);
    return undefined;
  });
}
/** The change can be undone. */
function replaceSource(text: string): void {
  show(source);
  editor.pushUndoStop();
  editor.executeEdits('page', [{ range: source.getFullModelRange(), text }]);
  editor.pushUndoStop();
  editor.setPosition({ lineNumber: 1, column: 1 });
  editor.setScrollTop(0);
}

const choice = element<HTMLSelectElement>('examples');
choice.append(...examples.map(({ title }, index) => new Option(title, String(index))));
choice.addEventListener('change', () => {
  replaceSource(examples[Number(choice.value)].text);
  choice.value = '';
});
element('share').addEventListener('click', async () => {
  history.replaceState(null, '', await fragmentOf(source.getValue()));
  const copied = await navigator.clipboard.writeText(location.href).then(
    () => true,
    () => false,
  );
  notify(copied ? 'The link is copied: it has the text in it.' : 'The link is in the address bar: it has the text in it.');
});
addEventListener('hashchange', async () => {
  const text = await textOfLink();
  if (text !== undefined) replaceSource(text);
});
source.onDidChangeContent(() => {
  sessionStorage.setItem('source', source.getValue());
  // A link in the address is to another text from now on.
  if (location.hash) history.replaceState(null, '', location.pathname);
});

makeSplitter(element('splitter'), element('panes'));
applyTheme();
source.setValue((await textOfLink()) ?? sessionStorage.getItem('source') ?? examples[0].text);
await connect();
