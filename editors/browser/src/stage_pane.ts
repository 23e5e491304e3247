// What the source becomes at a stage of compilation, beside it, and anew whenever it changes.

import * as monaco from 'monaco-editor/editor.js';
import type * as lsp from 'vscode-languageserver-protocol';
import type { Connection } from './connection';
import { uriOf } from './convert';
import { language } from './documents';
import { LineMarks, type MappedLines } from './line_marks';

/** Of `quern/ir`. */
interface Answer {
  text: string;
  version: number;
  map: MappedLines[];
}
interface Stage {
  stage: string;
  does: string;
}

/** What `quern/stages` says nothing of: it knows what passes do. */
const about: Record<string, string> = {
  ast: 'the syntax tree',
  typed: 'with every type',
  effects: 'what else functions do',
  fused: 'after all passes',
  bytecode: 'for the virtual machine',
  plan: 'the memory of its tensors',
  schedule: 'the steps that make the loops',
  loops: 'the loops of each kernel',
  llvm: 'LLVM IR',
  asm: 'machine code',
};
const languages: Record<string, string> = { ast: 'plaintext', bytecode: 'plaintext', plan: 'plaintext', llvm: 'llvm', asm: 'asm' };
const functionKind: lsp.SymbolKind = 12;

/** How long a text stays as it is before it is looked at again. */
const delay = 300;

export class StagePane {
  private readonly shown = monaco.editor.createModel('', language, monaco.Uri.parse('stage:text'));
  /** The question whose answer is shown. */
  private shows = '';
  private timer: number | undefined;
  private asked = new monaco.CancellationTokenSource();
  private readonly marks: LineMarks;

  constructor(
    private readonly connection: Connection,
    private readonly source: monaco.editor.ITextModel,
    sourceEditor: monaco.editor.IStandaloneCodeEditor,
    private readonly editor: monaco.editor.IStandaloneCodeEditor,
    private readonly stage: HTMLSelectElement,
    private readonly fn: HTMLSelectElement,
    private readonly problem: HTMLElement,
  ) {
    editor.setModel(this.shown);
    this.marks = new LineMarks(sourceEditor, source, editor);
    stage.addEventListener('change', () => {
      sessionStorage.setItem('stage', stage.value);
      void this.show();
    });
    fn.addEventListener('change', () => void this.show());
    source.onDidChangeContent(() => {
      this.asked.cancel();
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.show(), delay);
    });
  }

  async start(): Promise<void> {
    const stages = await this.connection.request<Stage[]>('quern/stages', {});
    this.stage.replaceChildren(
      ...stages.map(({ stage, does }) => {
        const what = does || about[stage];
        return new Option(what ? `${stage}: ${what}` : stage, stage);
      }),
    );
    this.stage.value = sessionStorage.getItem('stage') ?? 'typed';
    if (!this.stage.value) this.stage.value = 'typed';
    await this.show();
  }

  /** An answer that a later question overtook is dropped. */
  private async show(): Promise<void> {
    this.asked.cancel();
    const { token } = (this.asked = new monaco.CancellationTokenSource());
    await this.listFunctions(token);
    if (token.isCancellationRequested) return;
    const stage = this.stage.value;
    const params = { uri: uriOf(this.source), stage, ...(this.fn.value && { function: this.fn.value }) };
    try {
      const { text, version, map } = await this.connection.request<Answer>('quern/ir', params, token);
      if (token.isCancellationRequested) return;
      this.replace(text.trimEnd(), languages[stage] ?? language);
      this.marks.set(map, version);
      this.shows = JSON.stringify(params);
      this.say('');
    } catch (error) {
      if (token.isCancellationRequested) return;
      // What is asked for anew, and is not there, leaves nothing of something else.
      if (this.shows !== JSON.stringify(params)) {
        this.replace('', language);
        this.marks.set([], 0);
      }
      this.say((error as Error).message);
    }
  }

  private async listFunctions(token: monaco.CancellationToken): Promise<void> {
    const params = { textDocument: { uri: uriOf(this.source) } };
    const symbols = await this.connection
      .request<lsp.DocumentSymbol[]>('textDocument/documentSymbol', params, token)
      .catch(() => []);
    if (token.isCancellationRequested) return;
    const names = symbols.filter(({ kind }) => kind === functionKind).map(({ name }) => name);
    const chosen = this.fn.value;
    this.fn.replaceChildren(new Option('the whole text', ''), ...names.map((name) => new Option(name, name)));
    this.fn.value = names.includes(chosen) ? chosen : '';
  }

  /** The text stays where it was scrolled to. */
  private replace(text: string, id: string): void {
    if (this.shown.getLanguageId() !== id) monaco.editor.setModelLanguage(this.shown, id);
    if (this.shown.getValue() === text) return;
    const state = this.editor.saveViewState();
    this.shown.setValue(text);
    this.editor.restoreViewState(state);
  }

  /** A problem leaves the last text that there was, greyed. */
  private say(problem: string): void {
    this.problem.textContent = problem;
    this.problem.hidden = !problem;
    this.editor.getContainerDomNode().classList.toggle('outdated', problem !== '');
  }
}
