// Monaco's providers, each a request of the protocol.

import * as monaco from 'monaco-editor/editor.js';
import type * as lsp from 'vscode-languageserver-protocol';
import type { Connection } from './connection';
import {
  completionKind,
  markdown,
  marker,
  monacoPosition,
  monacoRange,
  position,
  range,
  symbol,
  textEdit,
  uriOf,
  workspaceEdit,
} from './convert';
import { type Documents, isDocument, language, location } from './documents';

/** What the client says of itself in `initialize`. */
export const capabilities: lsp.ClientCapabilities = {
  general: { positionEncodings: ['utf-16'] },
  textDocument: {
    publishDiagnostics: { relatedInformation: true, versionSupport: true },
    completion: { completionItem: { snippetSupport: true, documentationFormat: ['markdown'] } },
    signatureHelp: { signatureInformation: { parameterInformation: { labelOffsetSupport: true } } },
    definition: { linkSupport: true },
  },
  workspace: { inlayHint: { refreshSupport: true }, codeLens: { refreshSupport: true } },
};

type Completion = monaco.languages.CompletionItem & { asked: lsp.CompletionItem };
type Hint = monaco.languages.InlayHint & { asked: lsp.InlayHint };

/** A request about a document, and about a place in it; nothing for a model that is none, and where it is refused. */
type Ask = <Result>(
  method: string,
  model: monaco.editor.ITextModel,
  params: object,
  token?: monaco.CancellationToken,
) => Promise<Result | null>;

export function registerFeatures(connection: Connection, documents: Documents, server: lsp.ServerCapabilities): void {
  async function ask<Result>(
    method: string,
    model: monaco.editor.ITextModel,
    params: object,
    token?: monaco.CancellationToken,
  ): Promise<Result | null> {
    if (!isDocument(model)) return null;
    const all = { textDocument: { uri: uriOf(model) }, ...params };
    return connection.request<Result | null>(`textDocument/${method}`, all, token).catch(() => null);
  }
  registerPlaces(ask, documents);
  registerReading(connection, ask);
  registerWriting(connection, ask, server);
  registerTokens(ask, server);
}

/** Where what is named is declared and used. */
function registerPlaces(ask: Ask, documents: Documents): void {
  const { languages } = monaco;
  const places = async (method: string, model: monaco.editor.ITextModel, params: object, token: monaco.CancellationToken) => {
    const found = await ask<lsp.Location | (lsp.Location | lsp.LocationLink)[]>(method, model, params, token);
    return (await Promise.all([found ?? []].flat().map((one) => location(documents, one)))).flat();
  };
  languages.registerDefinitionProvider(language, {
    provideDefinition: (model, at, token) => places('definition', model, { position: position(at) }, token),
  });
  languages.registerTypeDefinitionProvider(language, {
    provideTypeDefinition: (model, at, token) => places('typeDefinition', model, { position: position(at) }, token),
  });
  languages.registerReferenceProvider(language, {
    provideReferences: (model, at, context, token) => places('references', model, { position: position(at), context }, token),
  });
}

/** What a text says of itself. */
function registerReading(connection: Connection, ask: Ask): void {
  const { languages } = monaco;
  languages.registerHoverProvider(language, {
    async provideHover(model, at, token) {
      const hover = await ask<lsp.Hover>('hover', model, { position: position(at) }, token);
      if (!hover) return null;
      return { contents: [markdown(hover.contents as lsp.MarkupContent)!], range: hover.range && monacoRange(hover.range) };
    },
  });
  languages.registerDocumentHighlightProvider(language, {
    async provideDocumentHighlights(model, at, token) {
      const found = await ask<lsp.DocumentHighlight[]>('documentHighlight', model, { position: position(at) }, token);
      return found?.map((one) => ({ range: monacoRange(one.range), kind: (one.kind ?? 1) - 1 }));
    },
  });
  languages.registerDocumentSymbolProvider(language, {
    async provideDocumentSymbols(model, token) {
      return (await ask<lsp.DocumentSymbol[]>('documentSymbol', model, {}, token))?.map(symbol);
    },
  });
  languages.registerFoldingRangeProvider(language, {
    async provideFoldingRanges(model, _, token) {
      const found = await ask<lsp.FoldingRange[]>('foldingRange', model, {}, token);
      return found?.map((one) => ({ start: one.startLine + 1, end: one.endLine + 1 }));
    },
  });
  const hintsChanged = new monaco.Emitter<void>();
  connection.on('workspace/inlayHint/refresh', () => hintsChanged.fire());
  languages.registerInlayHintsProvider(language, {
    onDidChangeInlayHints: hintsChanged.event,
    async provideInlayHints(model, where, token) {
      const found = await ask<lsp.InlayHint[]>('inlayHint', model, { range: range(where) }, token);
      const hints = (found ?? []).map(
        (asked): Hint => ({
          asked,
          label: asked.label as string,
          kind: asked.kind as number,
          paddingLeft: asked.paddingLeft,
          tooltip: markdown(asked.tooltip),
          position: monacoPosition(asked.position),
          textEdits: asked.textEdits?.map(textEdit),
        }),
      );
      return { hints, dispose() {} };
    },
    async resolveInlayHint(hint, token) {
      const resolved = await connection.request<lsp.InlayHint>('inlayHint/resolve', (hint as Hint).asked, token);
      return { ...hint, tooltip: markdown(resolved.tooltip) ?? hint.tooltip };
    },
  });
}

/** What helps while a text is written, and what changes it. */
function registerWriting(connection: Connection, ask: Ask, server: lsp.ServerCapabilities): void {
  const { languages } = monaco;
  languages.registerCompletionItemProvider(language, {
    triggerCharacters: server.completionProvider?.triggerCharacters,
    async provideCompletionItems(model, at, _, token) {
      const list = await ask<lsp.CompletionList>('completion', model, { position: position(at) }, token);
      return { suggestions: list?.items.map(completion) ?? [], incomplete: list?.isIncomplete };
    },
    async resolveCompletionItem(item, token) {
      const { asked } = item as Completion;
      const resolved = await connection.request<lsp.CompletionItem>('completionItem/resolve', asked, token);
      return { ...item, documentation: markdown(resolved.documentation) };
    },
  });
  languages.registerSignatureHelpProvider(language, {
    signatureHelpTriggerCharacters: server.signatureHelpProvider?.triggerCharacters,
    async provideSignatureHelp(model, at, token) {
      const help = await ask<lsp.SignatureHelp>('signatureHelp', model, { position: position(at) }, token);
      return help && { value: signatureHelp(help), dispose() {} };
    },
  });
  languages.registerRenameProvider(language, {
    async resolveRenameLocation(model, at, token) {
      const params = { textDocument: { uri: uriOf(model) }, position: position(at) };
      const found = await connection.request<lsp.Range | { range: lsp.Range } | null>('textDocument/prepareRename', params, token);
      if (!found) throw new Error('there is no name here that can be changed');
      const where = monacoRange('range' in found ? found.range : found);
      return { range: where, text: model.getValueInRange(where) };
    },
    async provideRenameEdits(model, at, newName, token) {
      const params = { textDocument: { uri: uriOf(model) }, position: position(at), newName };
      try {
        const edit = await connection.request<lsp.WorkspaceEdit | null>('textDocument/rename', params, token);
        return workspaceEdit(edit ?? {});
      } catch (error) {
        return { edits: [], rejectReason: (error as Error).message };
      }
    },
  });
  const layout = async (method: string, model: monaco.editor.ITextModel, params: object, token: monaco.CancellationToken) =>
    (await ask<lsp.TextEdit[]>(method, model, { options: { tabSize: 2, insertSpaces: true }, ...params }, token))?.map(textEdit);
  languages.registerDocumentFormattingEditProvider(language, {
    provideDocumentFormattingEdits: (model, _, token) => layout('formatting', model, {}, token),
  });
  languages.registerDocumentRangeFormattingEditProvider(language, {
    provideDocumentRangeFormattingEdits: (model, where, _, token) =>
      layout('rangeFormatting', model, { range: range(where) }, token),
  });
  languages.registerCodeActionProvider(language, {
    async provideCodeActions(model, where, { only }, token) {
      const params = { range: range(where), context: { diagnostics: [], ...(only && { only: [only] }) } };
      const actions = (await ask<lsp.CodeAction[]>('codeAction', model, params, token))?.map((action) => ({
        ...action,
        diagnostics: action.diagnostics?.map(marker),
        edit: action.edit && workspaceEdit(action.edit),
        command: undefined,
        disabled: undefined,
      }));
      return { actions: actions ?? [], dispose() {} };
    },
  });
}

function completion(asked: lsp.CompletionItem): Completion {
  const edit = asked.textEdit as lsp.TextEdit;
  const snippet = asked.insertTextFormat === 2;
  return {
    asked,
    label: asked.label,
    kind: completionKind(asked.kind),
    detail: asked.detail,
    sortText: asked.sortText,
    insertText: edit.newText,
    range: monacoRange(edit.range),
    insertTextRules: snippet ? monaco.languages.CompletionItemInsertTextRule.InsertAsSnippet : undefined,
  };
}

function signatureHelp(help: lsp.SignatureHelp): monaco.languages.SignatureHelp {
  return {
    activeSignature: help.activeSignature ?? 0,
    activeParameter: help.activeParameter ?? 0,
    signatures: help.signatures.map((signature) => ({
      label: signature.label,
      documentation: markdown(signature.documentation),
      activeParameter: signature.activeParameter ?? undefined,
      parameters: (signature.parameters ?? []).map(({ label, documentation }) => ({
        label,
        documentation: markdown(documentation),
      })),
    })),
  };
}

/** Colours, as what changed since the last answer. */
function registerTokens(ask: Ask, server: lsp.ServerCapabilities): void {
  const legend = (server.semanticTokensProvider as lsp.SemanticTokensOptions).legend;
  monaco.languages.registerDocumentSemanticTokensProvider(language, {
    getLegend: () => legend,
    releaseDocumentSemanticTokens() {},
    async provideDocumentSemanticTokens(model, lastResultId, token) {
      const previous = lastResultId ? { previousResultId: lastResultId } : {};
      const method = lastResultId ? 'semanticTokens/full/delta' : 'semanticTokens/full';
      const found = await ask<lsp.SemanticTokens | lsp.SemanticTokensDelta>(method, model, previous, token);
      if (!found) return null;
      if ('data' in found) return { resultId: found.resultId, data: new Uint32Array(found.data) };
      const edits = found.edits.map(({ start, deleteCount, data }) => ({
        start,
        deleteCount,
        data: data && new Uint32Array(data),
      }));
      return { resultId: found.resultId, edits };
    },
  });
}
