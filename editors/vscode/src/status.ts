// The state of the language server in the status bar; a click offers what to do about it.

import * as vscode from 'vscode';
import type { Server, ServerState } from './server';

const shown: Record<ServerState, { icon: string; about: string }> = {
  starting: { icon: '$(sync~spin) ', about: 'the language server starts' },
  ready: { icon: '$(check) ', about: 'the language server is ready' },
  checking: { icon: '$(sync~spin) ', about: 'the language server checks a text' },
  failed: { icon: '$(error) ', about: 'the language server does not run' },
};

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('quern.status', vscode.StatusBarAlignment.Right, 100);
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.item.name = 'Quern';
    this.item.command = 'quern.status';
    this.listeners = [server.onDidChangeState(() => this.update()), vscode.window.onDidChangeActiveTextEditor(() => this.update())];
    this.update();
  }

  dispose(): void {
    for (const listener of this.listeners) listener.dispose();
    this.item.dispose();
  }

  private update(): void {
    const { state, why } = this.server;
    const { icon, about } = shown[state];
    this.item.text = `${icon}Quern`;
    this.item.tooltip = why ? `Quern: ${about} (${why})` : `Quern: ${about}`;
    this.item.backgroundColor = state === 'failed' ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
    if (vscode.window.activeTextEditor?.document.languageId.startsWith('quern')) this.item.show();
    else this.item.hide();
  }
}

/** Offers the log, a restart and the settings. */
export async function showStatus(server: Server): Promise<void> {
  const rows = [
    { label: 'Show Log', act: () => server.log.show() },
    { label: 'Restart Language Server', act: () => server.restart() },
    { label: 'Open Settings', act: () => vscode.commands.executeCommand('workbench.action.openSettings', 'quern') },
  ];
  const { about } = shown[server.state];
  await (await vscode.window.showQuickPick(rows, { title: `Quern: ${about}` }))?.act();
}
