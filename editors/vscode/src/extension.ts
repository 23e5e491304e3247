// The extension's entry: the language server's life, and the commands.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { evaluateSelection } from './evaluate';
import { IrDocuments, showIr } from './ir';
import { IrLines } from './ir_lines';
import { programOf, Server } from './server';
import { showStatus, Status } from './status';
import { VirtualDocuments } from './virtual_documents';

let server: Server | undefined;

/** Runs the active file in a terminal of its own, after saving it. */
async function runFile(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== 'quern' || document.uri.scheme !== 'file') {
    void vscode.window.showInformationMessage('Quern: there is no file to run; open a .relay file.');
    return;
  }
  if (!(await document.save())) return;
  const file = document.uri.fsPath;
  const execution = new vscode.ProcessExecution(programOf(document.uri), ['run', file], { cwd: path.dirname(file) });
  const definition = { type: 'quern', file };
  const scope = vscode.workspace.getWorkspaceFolder(document.uri) ?? vscode.TaskScope.Global;
  const task = new vscode.Task(definition, scope, path.basename(file), 'quern', execution, []);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true, focus: false };
  await vscode.tasks.executeTask(task);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const current = (server = new Server());
  const ir = new IrDocuments(current);
  const { commands, workspace } = vscode;
  context.subscriptions.push(
    current,
    ir,
    new IrLines(ir),
    new Status(current),
    workspace.registerTextDocumentContentProvider('quern', new VirtualDocuments(current)),
    workspace.registerTextDocumentContentProvider('quern-ir', ir),
    commands.registerCommand('quern.run', runFile),
    commands.registerCommand('quern.showIr', (stage?: string) => showIr(current, stage)),
    commands.registerCommand('quern.evaluateSelection', () => evaluateSelection(current)),
    commands.registerCommand('quern.restart', () => current.restart()),
    commands.registerCommand('quern.status', () => showStatus(current)),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('quern.path') || event.affectsConfiguration('quern.listen')) void current.restart();
    }),
  );
  await current.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
