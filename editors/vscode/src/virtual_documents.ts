// Texts that only the server has: `quern:/library/nn.relay`.

import * as vscode from 'vscode';
import type { Server } from './server';

export class VirtualDocuments implements vscode.TextDocumentContentProvider {
  constructor(private readonly server: Server) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    return (await this.server.request<{ text: string }>('quern/virtualDocument', { uri: uri.toString() })).text;
  }
}
