// What a file becomes at a stage of compilation, beside it, and anew whenever it changes.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { LSPErrorCodes, ResponseError } from 'vscode-languageclient/node';
import type { MappedLines } from './ir_lines';
import type { Server } from './server';

/** The stages that one asks for most, in their order; `quern ir --help` has those of the single passes too. */
const stages: [stage: string, about: string][] = [
  ['ast', 'the syntax tree'],
  ['typed', 'with every type'],
  ['effects', 'what each function does beside its value'],
  ['gradient', 'derivatives are functions'],
  ['fuse', 'operators are grouped into kernels'],
  ['fused', 'after all passes'],
  ['bytecode', 'for the virtual machine'],
  ['plan', 'the memory of its tensors'],
  ['schedule', 'the steps that make the loops'],
  ['loops', 'the loops of each kernel'],
  ['llvm', 'LLVM IR'],
  ['asm', 'machine code'],
];
const languages: Record<string, string> = { ast: 'plaintext', bytecode: 'plaintext', plan: 'plaintext', llvm: 'llvm', asm: 'asm' };

/** How long a text stays as it is before its IR is made anew. */
const delay = 400;

interface IrQuery {
  uri: string;
  /** Absent for all statements. */
  function?: string;
  stage: string;
}

/** What a document shows: one of the command, or one that a lens of the server names; nothing of any other. */
function queryOf(uri: vscode.Uri): IrQuery | undefined {
  if (uri.scheme === 'quern-ir') return JSON.parse(uri.query) as IrQuery;
  const named = uri.scheme === 'quern' && /^\/ir\/([^/]+)\/(.*)\.relay$/.exec(uri.path);
  return named ? { uri: vscode.Uri.parse(uri.query).toString(), stage: named[1], function: named[2] } : undefined;
}

/** The answer to `quern/ir`: lines count from 0, and are those of this version of the source. */
interface IrAnswer {
  text: string;
  version: number;
  map: MappedLines[];
}

/** `@f` and the operators that a text defines, each with its line. */
function definitionsOf(document: vscode.TextDocument): { name: string; line: number }[] {
  const found = [];
  for (const match of document.getText().matchAll(/^def\s+(@\w+(?:\.\w+)*)/gm))
    found.push({ name: match[1], line: document.positionAt(match.index).line });
  return found;
}

/** Asks which definition and which stage, and shows the IR beside the source. */
export async function showIr(stage?: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'quern') return;
  const all = { label: 'All statements' };
  const line = editor.selection.active.line;
  // The definition that the cursor is in comes first.
  const definitions = definitionsOf(editor.document);
  const current = definitions.filter((definition) => definition.line <= line).at(-1);
  const names = [...new Set([...(current ? [current.name] : []), ...definitions.map((definition) => definition.name)])];
  const items = [...names.map((label) => ({ label })), all];
  const picked = items.length > 1 ? await vscode.window.showQuickPick(items, { title: 'Show the IR of' }) : all;
  if (!picked) return;
  if (typeof stage !== 'string') {
    const rows = stages.map(([label, description]) => ({ label, description }));
    stage = (await vscode.window.showQuickPick(rows, { title: 'At the stage' }))?.label;
  }
  if (!stage) return;

  const query: IrQuery = { uri: editor.document.uri.toString(), stage };
  if (picked !== all) query.function = picked.label;
  const title = `${path.basename(editor.document.uri.path)} ${query.function ?? ''} (${stage})`.replace(/ +/, ' ');
  const uri = vscode.Uri.from({ scheme: 'quern-ir', path: `/${title}`, query: JSON.stringify(query) });
  const shown = await vscode.workspace.openTextDocument(uri);
  const language = languages[stage] ?? 'quern';
  // An editor without a language for assembler shows plain text.
  if ((await vscode.languages.getLanguages()).includes(language))
    await vscode.languages.setTextDocumentLanguage(shown, language);
  await vscode.window.showTextDocument(shown, {
    viewColumn: vscode.ViewColumn.Beside,
    preserveFocus: true,
    preview: false,
  });
}

/** The documents `quern-ir:`, whose query says what they show, and `quern:/ir/`. */
export class IrDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly mapped = new vscode.EventEmitter<void>();
  private readonly answers = new Map<string, IrAnswer>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly listeners: vscode.Disposable[];
  readonly onDidChange = this.changed.event;
  readonly onDidMap = this.mapped.event;

  constructor(private readonly server: Server) {
    this.listeners = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.sourceChanged(document)),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.answers.delete(uri.toString())),
    ];
  }

  isOne(uri: vscode.Uri): boolean {
    return queryOf(uri) !== undefined;
  }

  /** What a document was made of last; nothing where it is none, or has no text. */
  made(uri: vscode.Uri): (IrAnswer & { source: string }) | undefined {
    const answer = this.answers.get(uri.toString());
    return answer && { ...answer, source: queryOf(uri)!.uri };
  }

  async provideTextDocumentContent(uri: vscode.Uri, token?: vscode.CancellationToken): Promise<string> {
    const key = uri.toString();
    try {
      const answer = await this.server.request<IrAnswer>('quern/ir', queryOf(uri)!, token);
      this.answers.set(key, answer);
      this.mapped.fire();
      return answer.text;
    } catch (error) {
      // An edit overtook it: the text stays until there is another one.
      const again = error instanceof ResponseError && error.code === LSPErrorCodes.ServerCancelled;
      if (again) this.renew(uri);
      const last = this.answers.get(key);
      if (again && last) return last.text;
      this.answers.delete(key);
      this.mapped.fire();
      return `// ${error instanceof Error ? error.message : String(error)}\n`.replace(/\n(?=.)/g, '\n// ');
    }
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
    this.changed.dispose();
    this.mapped.dispose();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private sourceChanged(source: vscode.TextDocument): void {
    if (source.languageId !== 'quern') return;
    for (const { uri } of vscode.workspace.textDocuments) {
      if (queryOf(uri)?.uri === source.uri.toString()) this.renew(uri);
    }
  }

  private renew(uri: vscode.Uri): void {
    const key = uri.toString();
    clearTimeout(this.timers.get(key));
    this.timers.set(
      key,
      setTimeout(() => {
        this.timers.delete(key);
        this.changed.fire(uri);
      }, delay),
    );
  }
}
