// Evaluating what is selected, or what stands in the line; the server does that in a process of its own, and shows values
// beside the text.

import * as vscode from 'vscode';
import type { Server } from './server';

interface Problem {
  message: string;
}
interface Outcome {
  parts: { text?: string; type?: string; failure?: Problem }[];
  problems: Problem[];
  output: string;
}

/** Shows what the selection evaluates to or, without one, the `// >>>` or the statement in the line of the cursor. */
export async function evaluateSelection(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'quern') return;
  const { start, end } = editor.selection;
  const uri = editor.document.uri.toString();
  const range = { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
  try {
    const outcome = await server.request<Outcome>('workspace/executeCommand', { command: 'quern.evaluate', arguments: [{ uri, range }] });
    const wrong = outcome.problems[0] ?? outcome.parts.find((part) => part.failure)?.failure;
    const last = outcome.parts.at(-1);
    if (wrong) void vscode.window.showErrorMessage(`Quern: ${wrong.message}`);
    else if (last?.text) vscode.window.setStatusBarMessage(`${last.text}: ${last.type}`, 15000);
  } catch (error) {
    void vscode.window.showErrorMessage(`Quern: ${error instanceof Error ? error.message : String(error)}`);
  }
}
