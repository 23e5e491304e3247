// The lines of a source and of what it becomes that belong together: what belongs to the cursor's line is marked in the
// other editor. What an earlier text became is greyed.

import * as vscode from 'vscode';
import type { IrDocuments } from './ir';

/** Lines, both included. */
export type Lines = [first: number, last: number];

/** Lines of an IR document, each of which comes from all of these lines of the source. */
export interface MappedLines {
  lines: Lines;
  source: Lines[];
}

const has = ([first, last]: Lines, line: number): boolean => first <= line && line <= last;

export class IrLines implements vscode.Disposable {
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.wordHighlightStrongBackground'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.wordHighlightStrongForeground'),
  });
  private readonly grey = vscode.window.createTextEditorDecorationType({ opacity: '0.5' });
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly documents: IrDocuments) {
    const { window, workspace } = vscode;
    const markAll = () => {
      this.greyOutdated();
      if (window.activeTextEditor) this.markFrom(window.activeTextEditor);
    };
    this.listeners = [
      window.onDidChangeTextEditorSelection(({ textEditor }) => this.markFrom(textEditor)),
      window.onDidChangeVisibleTextEditors(markAll),
      documents.onDidMap(markAll),
      workspace.onDidChangeTextDocument(({ document }) => documents.made(document.uri) && markAll()),
    ];
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
    this.mark.dispose();
    this.grey.dispose();
  }

  private greyOutdated(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const made = this.documents.made(editor.document.uri);
      if (!made) continue;
      const range = new vscode.Range(0, 0, editor.document.lineCount, 0);
      editor.setDecorations(this.grey, made.outdated ? [{ range, hoverMessage: made.outdated }] : []);
    }
  }

  /** Marks what belongs to the line of this editor's cursor in the editors beside it. */
  private markFrom(editor: vscode.TextEditor): void {
    const line = editor.selection.active.line;
    const from = this.documents.made(editor.document.uri);
    editor.setDecorations(this.mark, []);
    for (const other of vscode.window.visibleTextEditors) {
      if (other === editor) continue;
      const uri = other.document.uri.toString();
      const to = this.documents.made(other.document.uri);
      if (from && uri === from.source) {
        const found = from.version === other.document.version ? from.map.find(({ lines }) => has(lines, line)) : undefined;
        this.show(other, found?.source ?? []);
      } else if (to && to.source === editor.document.uri.toString()) {
        const found = to.version === editor.document.version ? to.map.filter(({ source }) => source.some((lines) => has(lines, line))) : [];
        this.show(
          other,
          found.map(({ lines }) => lines),
        );
      }
    }
  }

  private show(editor: vscode.TextEditor, lines: Lines[]): void {
    const ranges = lines.map(([first, last]) => new vscode.Range(first, 0, last, 0));
    editor.setDecorations(this.mark, ranges);
    const seen = ranges.some((range) => editor.visibleRanges.some((visible) => visible.intersection(range)));
    if (ranges.length && !seen) editor.revealRange(ranges[0], vscode.TextEditorRevealType.InCenter);
  }
}
