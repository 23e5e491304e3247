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

/** What a document shows, where it is one of these. */
function queryOf(uri: vscode.Uri): IrQuery | undefined {
  return uri.scheme === 'quern-ir' ? (JSON.parse(uri.query) as IrQuery) : undefined;
}

/** The answer to `quern/ir`: lines count from 0, and are those of this version of the source. */
interface IrAnswer {
  text: string;
  version: number;
  map: MappedLines[];
  /** Why the text that the source has now gives none; this one is of an earlier text. */
  outdated?: string;
}

/** What the server says that a text declares. */
interface Outline {
  name: string;
  range: { start: { line: number }; end: { line: number } };
}

/** Asks which definition and which stage, and shows the IR beside the source. */
export async function showIr(server: Server, stage?: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'quern') return;
  const all = { label: 'All statements' };
  const line = editor.selection.active.line;
  const uri = editor.document.uri.toString();
  const outline = await server
    .request<Outline[] | null>('textDocument/documentSymbol', { textDocument: { uri } })
    .catch((error: Error) => vscode.window.showErrorMessage(`Quern: ${error.message}`).then(() => undefined));
  if (outline === undefined) return;
  const definitions = (outline ?? []).filter(({ name }) => name.startsWith('@'));
  const names = [...new Set(definitions.map(({ name }) => name))].map((label) => ({ label }));
  // What the cursor is in comes first: a definition, or the statements around them.
  const current = definitions.find(({ range }) => range.start.line <= line && line <= range.end.line);
  const others = names.filter(({ label }) => label !== current?.name);
  const items = current ? [{ label: current.name }, ...others, all] : [all, ...others];
  const picked = items.length > 1 ? await vscode.window.showQuickPick(items, { title: 'Show the IR of' }) : all;
  if (!picked) return;
  if (typeof stage !== 'string') {
    const rows = stages.map(([label, description]) => ({ label, description }));
    stage = (await vscode.window.showQuickPick(rows, { title: 'At the stage' }))?.label;
  }
  if (!stage) return;

  await showBeside({ uri, stage, function: picked === all ? undefined : picked.label });
}

/** Shows what a lens of the server names, `quern:/ir/STAGE/FUNCTION.relay?URI`; false where this names no IR. */
export async function showNamed(uri: vscode.Uri): Promise<boolean> {
  const named = uri.scheme === 'quern' && /^\/ir\/([^/]+)\/(.*)\.relay$/.exec(uri.path);
  if (!named) return false;
  await showBeside({ uri: vscode.Uri.parse(uri.query).toString(), stage: named[1], function: `@${named[2]}` });
  return true;
}

async function showBeside(query: IrQuery): Promise<void> {
  const source = path.basename(vscode.Uri.parse(query.uri).path);
  const title = [source, query.function, `(${query.stage})`].filter(Boolean).join(' ');
  const uri = vscode.Uri.from({ scheme: 'quern-ir', path: `/${title}`, query: JSON.stringify(query) });
  const shown = await vscode.workspace.openTextDocument(uri);
  const language = languages[query.stage] ?? 'quern';
  // An editor without a language for assembler shows plain text.
  if ((await vscode.languages.getLanguages()).includes(language))
    await vscode.languages.setTextDocumentLanguage(shown, language);
  await vscode.window.showTextDocument(shown, {
    viewColumn: vscode.ViewColumn.Beside,
    preserveFocus: true,
    preview: false,
  });
}

/** The documents `quern-ir:`, whose query says what they show. */
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
      // A document that gets another language is closed for these events, and open all the same.
      vscode.workspace.onDidCloseTextDocument(({ uri, isClosed }) => isClosed && this.answers.delete(uri.toString())),
    ];
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
      const why = error instanceof Error ? error.message : String(error);
      const last = this.answers.get(key);
      if (!last) return `// ${why}\n`.replace(/\n(?=.)/g, '\n// ');
      if (!again) this.answers.set(key, { ...last, outdated: why });
      this.mapped.fire();
      return last.text;
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
