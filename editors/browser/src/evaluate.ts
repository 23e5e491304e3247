// Evaluating the source or a part of it. The server does that in a process of its own, and shows values beside the text.

import * as monaco from 'monaco-editor/editor.js';
import type * as lsp from 'vscode-languageserver-protocol';
import type { Connection } from './connection';
import { monacoRange, range, uriOf } from './convert';
import { isDocument, language } from './documents';

interface Problem {
  message: string;
}
interface Part {
  name?: string;
  text?: string;
  type?: string;
  note?: string;
  passed?: boolean;
  failure?: Problem;
}
interface Outcome {
  parts: Part[];
  problems: Problem[];
  output: string;
}

const said = ({ name, note, passed, text, type }: Part): string => {
  if (note) return note;
  if (passed !== undefined) return `${name}: passed`;
  return text === undefined ? '' : `${text}: ${type}`;
};

/** `say` shows a line that goes by itself. */
export function registerEvaluation(
  connection: Connection,
  editor: monaco.editor.IStandaloneCodeEditor,
  button: HTMLButtonElement,
  say: (text: string) => void,
): void {
  async function run(command: string, argument: object): Promise<void> {
    const { uri } = argument as { uri: string };
    button.disabled = true;
    say('Evaluating…');
    try {
      const { parts, problems, output } = await connection.request<Outcome>('workspace/executeCommand', {
        command,
        arguments: [{ ...argument, uri }],
      });
      const wrong = problems[0] ?? parts.find((part) => part.failure)?.failure;
      const last = parts.map(said).filter(Boolean).at(-1);
      say(wrong?.message.split('\n')[0] ?? last ?? output.trimEnd().split('\n').at(-1) ?? '');
    } catch (error) {
      say((error as Error).message);
    } finally {
      button.disabled = false;
    }
  }
  const withSource = (command: string, more: (model: monaco.editor.ITextModel) => object) => () => {
    const model = editor.getModel();
    if (model && isDocument(model)) void run(command, { uri: uriOf(model), ...more(model) });
  };

  button.addEventListener('click', withSource('quern.evaluateFile', () => ({})));
  editor.addAction({
    id: 'quern.evaluate',
    label: 'Evaluate Selection or Line',
    keybindings: [monaco.KeyMod.CtrlCmd | monaco.KeyCode.Enter],
    contextMenuGroupId: '1_modification',
    run: withSource('quern.evaluate', () => ({ range: range(editor.getSelection()!) })),
  });
  monaco.editor.registerCommand('quern.lens', (_, command: string, argument: object) => run(command, argument));

  const changed = new monaco.Emitter<monaco.languages.CodeLensProvider>();
  const provider: monaco.languages.CodeLensProvider = {
    onDidChange: changed.event,
    async provideCodeLenses(model, token) {
      if (!isDocument(model)) return { lenses: [], dispose() {} };
      const params = { textDocument: { uri: uriOf(model) } };
      const found = await connection.request<lsp.CodeLens[]>('textDocument/codeLens', params, token).catch(() => []);
      const lenses = found.map(({ range: at, command }) => ({
        range: monacoRange(at),
        command: { id: 'quern.lens', title: command!.title, arguments: [command!.command, command!.arguments![0] as object] },
      }));
      return { lenses, dispose() {} };
    },
  };
  monaco.languages.registerCodeLensProvider(language, provider);
  connection.on('workspace/codeLens/refresh', () => changed.fire(provider));
}
