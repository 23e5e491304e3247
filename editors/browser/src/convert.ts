// The protocol's values and Monaco's: lines and columns from 0 here, from 1 there, both in UTF-16.

import * as monaco from 'monaco-editor/editor.js';
import type * as lsp from 'vscode-languageserver-protocol';

export const uriOf = (model: monaco.editor.ITextModel): string => model.uri.toString(true);

export const position = ({ lineNumber, column }: monaco.IPosition): lsp.Position => ({
  line: lineNumber - 1,
  character: column - 1,
});
export const range = (from: monaco.IRange): lsp.Range => ({
  start: { line: from.startLineNumber - 1, character: from.startColumn - 1 },
  end: { line: from.endLineNumber - 1, character: from.endColumn - 1 },
});
export const monacoPosition = ({ line, character }: lsp.Position): monaco.IPosition => ({
  lineNumber: line + 1,
  column: character + 1,
});
export const monacoRange = ({ start, end }: lsp.Range): monaco.IRange => ({
  startLineNumber: start.line + 1,
  startColumn: start.character + 1,
  endLineNumber: end.line + 1,
  endColumn: end.character + 1,
});

export const textEdit = ({ range, newText }: lsp.TextEdit): monaco.languages.TextEdit => ({
  range: monacoRange(range),
  text: newText,
});
export function workspaceEdit({ changes = {} }: lsp.WorkspaceEdit): monaco.languages.WorkspaceEdit {
  const edits = Object.entries(changes).flatMap(([uri, list]) =>
    list.map((edit) => ({ resource: monaco.Uri.parse(uri), versionId: undefined, textEdit: textEdit(edit) })),
  );
  return { edits };
}

export function markdown(content: lsp.MarkupContent | string | undefined): monaco.IMarkdownString | undefined {
  return content === undefined ? undefined : { value: typeof content === 'string' ? content : content.value };
}

const severities = [
  monaco.MarkerSeverity.Error,
  monaco.MarkerSeverity.Error,
  monaco.MarkerSeverity.Warning,
  monaco.MarkerSeverity.Info,
  monaco.MarkerSeverity.Hint,
];
export const marker = (found: lsp.Diagnostic): monaco.editor.IMarkerData => ({
  ...monacoRange(found.range),
  severity: severities[found.severity ?? 1],
  message: found.message,
  code: found.code?.toString(),
  relatedInformation: found.relatedInformation?.map(({ location, message }) => ({
    resource: monaco.Uri.parse(location.uri),
    ...monacoRange(location.range),
    message,
  })),
});

/** Both name their kinds alike; the numbers differ. */
const completionKinds = (
  'Text Method Function Constructor Field Variable Class Interface Module Property Unit Value Enum Keyword Snippet ' +
  'Color File Reference Folder EnumMember Constant Struct Event Operator TypeParameter'
).split(' ') as (keyof typeof monaco.languages.CompletionItemKind)[];
export const completionKind = (kind: lsp.CompletionItemKind = 1): monaco.languages.CompletionItemKind =>
  monaco.languages.CompletionItemKind[completionKinds[kind - 1]];

export const symbol = (found: lsp.DocumentSymbol): monaco.languages.DocumentSymbol => ({
  name: found.name,
  detail: found.detail ?? '',
  kind: (found.kind - 1) as monaco.languages.SymbolKind,
  tags: [],
  range: monacoRange(found.range),
  selectionRange: monacoRange(found.selectionRange),
  children: found.children?.map(symbol),
});
