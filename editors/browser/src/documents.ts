// The models of the language, mirrored to the server, and what the server says is wrong in them.

import * as monaco from 'monaco-editor/editor.js';
import type * as lsp from 'vscode-languageserver-protocol';
import type { Connection } from './connection';
import { marker, monacoRange, range, uriOf } from './convert';

export const language = 'quern';
const libraryScheme = 'quern';

/** The texts of stages are models too, and none of the server's. */
export const isDocument = (model: monaco.editor.ITextModel): boolean =>
  model.getLanguageId() === language && model.uri.scheme !== 'stage';
export const isLibrary = (model: monaco.editor.ITextModel): boolean => model.uri.scheme === libraryScheme;

export class Documents {
  private readonly versions = new Map<string, number>();
  private readonly library = new Map<string, Promise<monaco.editor.ITextModel>>();

  constructor(private readonly connection: Connection) {
    connection.on<lsp.PublishDiagnosticsParams>('textDocument/publishDiagnostics', (params) => this.mark(params));
    for (const model of monaco.editor.getModels()) this.open(model);
    monaco.editor.onDidCreateModel((model) => this.open(model));
  }

  /** The model of a place that the server named: one that is open, or a file of the library, which is fetched. */
  async model(uri: string): Promise<monaco.editor.ITextModel | undefined> {
    const resource = monaco.Uri.parse(uri);
    const open = monaco.editor.getModel(resource);
    if (open || resource.scheme !== libraryScheme) return open ?? undefined;
    if (!this.library.has(uri)) {
      const fetched = this.connection
        .request<{ text: string }>('quern/virtualDocument', { uri })
        .then(({ text }) => monaco.editor.createModel(text, language, resource));
      this.library.set(uri, fetched);
    }
    return this.library.get(uri);
  }

  private open(model: monaco.editor.ITextModel): void {
    if (!isDocument(model)) return;
    const uri = uriOf(model);
    this.versions.set(uri, model.getVersionId());
    this.connection.notify('textDocument/didOpen', {
      textDocument: { uri, languageId: language, version: model.getVersionId(), text: model.getValue() },
    });
    model.onDidChangeContent(({ changes, versionId }) => {
      this.versions.set(uri, versionId);
      this.connection.notify('textDocument/didChange', {
        textDocument: { uri, version: versionId },
        contentChanges: changes.map((change) => ({ range: range(change.range), text: change.text })),
      });
    });
  }

  private mark({ uri, version, diagnostics }: lsp.PublishDiagnosticsParams): void {
    const model = monaco.editor.getModel(monaco.Uri.parse(uri));
    if (!model || (version !== undefined && version !== this.versions.get(uri))) return;
    monaco.editor.setModelMarkers(model, language, diagnostics.map(marker));
  }
}

export async function location(documents: Documents, found: lsp.Location | lsp.LocationLink): Promise<monaco.languages.Location[]> {
  const [uri, at] = 'uri' in found ? [found.uri, found.range] : [found.targetUri, found.targetSelectionRange];
  const model = await documents.model(uri);
  return model ? [{ uri: model.uri, range: monacoRange(at) }] : [];
}
