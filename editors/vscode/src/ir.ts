// What a file becomes at a stage of compilation, beside it, and anew whenever it changes.

import * as path from 'node:path';
import * as vscode from 'vscode';
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
  ['schedule', 'the steps that make the loops'],
  ['loops', 'the loops of each kernel'],
  ['llvm', 'LLVM IR'],
  ['asm', 'machine code'],
];
const languages: Record<string, string> = { ast: 'plaintext', bytecode: 'plaintext', llvm: 'llvm', asm: 'asm' };

/** How long a text stays as it is before its IR is made anew. */
const delay = 400;

interface IrQuery {
  uri: string;
  /** Absent for all statements. */
  function?: string;
  stage: string;
}

const queryOf = (uri: vscode.Uri): IrQuery => JSON.parse(uri.query) as IrQuery;

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

/** The documents `quern-ir:`, whose query says what they show. */
export class IrDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly listener: vscode.Disposable;
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server) {
    this.listener = vscode.workspace.onDidChangeTextDocument(({ document }) => this.sourceChanged(document));
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const query = queryOf(uri);
    try {
      return (await this.server.request<{ text: string }>('quern/ir', query)).text;
    } catch (error) {
      return `// ${error instanceof Error ? error.message : String(error)}\n`.replace(/\n(?=.)/g, '\n// ');
    }
  }

  dispose(): void {
    this.listener.dispose();
    this.changed.dispose();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private sourceChanged(source: vscode.TextDocument): void {
    if (source.languageId !== 'quern') return;
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme !== 'quern-ir' || queryOf(uri).uri !== source.uri.toString()) continue;
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
}
