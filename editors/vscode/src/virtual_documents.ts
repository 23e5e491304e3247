// Texts that only the server has, such as the library's: `quern:/stdlib/nn.relay`.

import * as vscode from 'vscode';
import type { IrDocuments } from './ir';
import type { Server } from './server';

export class VirtualDocuments implements vscode.TextDocumentContentProvider {
  readonly onDidChange: vscode.Event<vscode.Uri>;

  constructor(
    private readonly server: Server,
    private readonly ir: IrDocuments,
  ) {
    this.onDidChange = ir.onDidChange;
  }

  async provideTextDocumentContent(uri: vscode.Uri, token?: vscode.CancellationToken): Promise<string> {
    if (this.ir.isOne(uri)) return this.ir.provideTextDocumentContent(uri, token);
    return (await this.server.request<{ text: string }>('quern/virtualDocument', { uri: uri.toString() })).text;
  }
}
