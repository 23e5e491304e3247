// The lines of the source and of what it becomes that belong together: what belongs to the cursor's line is marked in the
// other editor.

import * as monaco from 'monaco-editor/editor.js';

/** Lines, both included, counted from 0. */
export type Lines = [first: number, last: number];

/** Lines of what the source becomes, each of which comes from all of these lines of the source. */
export interface MappedLines {
  lines: Lines;
  source: Lines[];
}

type Editor = monaco.editor.IStandaloneCodeEditor;

const has = ([first, last]: Lines, line: number): boolean => first <= line && line <= last;

export class LineMarks {
  private map: MappedLines[] = [];
  /** The source's, that the map is of. */
  private version = 0;
  private readonly marks: Map<Editor, monaco.editor.IEditorDecorationsCollection>;

  constructor(
    private readonly source: Editor,
    private readonly model: monaco.editor.ITextModel,
    private readonly beside: Editor,
  ) {
    this.marks = new Map([source, beside].map((editor) => [editor, editor.createDecorationsCollection()]));
    for (const editor of [source, beside]) {
      editor.onDidChangeCursorPosition(() => this.mark(true));
      editor.onDidFocusEditorText(() => this.mark(false));
      editor.onDidChangeModelContent(() => this.mark(false));
    }
    source.onDidChangeModel(() => this.mark(false));
  }

  set(map: MappedLines[], version: number): void {
    this.map = map;
    this.version = version;
    this.mark(false);
  }

  /** `reveals`: has what is marked come into view. */
  private mark(reveals: boolean): void {
    const fromBeside = this.beside.hasTextFocus();
    const isOf = this.source.getModel() === this.model && this.version === this.model.getVersionId();
    const line = ((fromBeside ? this.beside : this.source).getPosition()?.lineNumber ?? 0) - 1;
    const here = this.map.filter(({ lines, source }) => (fromBeside ? [lines] : source).some((some) => has(some, line)));
    const there = isOf ? here.flatMap(({ lines, source }) => (fromBeside ? source : [lines])) : [];
    this.show(this.source, fromBeside ? there : [], reveals);
    this.show(this.beside, fromBeside ? [] : there, reveals);
  }

  private show(editor: Editor, lines: Lines[], reveals: boolean): void {
    const ranges = lines.map(([first, last]) => new monaco.Range(first + 1, 1, last + 1, 1));
    this.marks.get(editor)!.set(ranges.map((range) => ({ range, options: { isWholeLine: true, className: 'belongs' } })));
    const seen = ranges.some((range) => editor.getVisibleRanges().some((visible) => visible.intersectRanges(range)));
    if (reveals && ranges.length && !seen) editor.revealLineInCenter(ranges[0].startLineNumber);
  }
}
