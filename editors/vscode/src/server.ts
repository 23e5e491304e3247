// `quern lsp` as a client sees it.

import * as os from 'node:os';
import * as vscode from 'vscode';
import { LanguageClient, type LanguageClientOptions, type Middleware, type ServerOptions, State } from 'vscode-languageclient/node';
import { showNamed } from './ir';

/** The program as the settings name it for a file, or for the window. */
export function programOf(uri?: vscode.Uri): string {
  const named = vscode.workspace.getConfiguration('quern', uri).get('path', 'quern').trim() || 'quern';
  const folder = (uri && vscode.workspace.getWorkspaceFolder(uri)) ?? vscode.workspace.workspaceFolders?.[0];
  return named.replace('${workspaceFolder}', folder?.uri.fsPath ?? '.').replace(/^~(?=[/\\])/, os.homedir());
}

export type ServerState = 'starting' | 'ready' | 'checking' | 'failed';

/** A check that takes less, in milliseconds, is not worth a look. */
const shortCheck = 250;

const clientOptions: LanguageClientOptions = {
  documentSelector: [
    { language: 'quern', scheme: 'file' },
    { language: 'quern', scheme: 'untitled' },
    { language: 'quern', scheme: 'quern' },
    { scheme: 'file', pattern: '**/*.transcript' },
  ],
  synchronize: { configurationSection: 'quern' },
};

/** Of a start that fails it tells the output channel alone: the user is told by who starts it. */
class Client extends LanguageClient {
  private hasStarted = false;

  override async start(): Promise<void> {
    await super.start();
    this.hasStarted = true;
  }
  override error(message: string, data?: unknown, show: boolean | 'force' = true): void {
    super.error(message, data, this.hasStarted && show);
  }
}

/** The language server, which starts, stops and starts again one step after the other. */
export class Server implements vscode.Disposable {
  /** It outlives each client, so that one can read in it why the last one ended. */
  readonly log = vscode.window.createOutputChannel('Quern');
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeState = this.changed.event;
  private life: Exclude<ServerState, 'checking'> = 'starting';
  private reason = '';
  private checks = 0;
  private client: Client | undefined;
  private last: Promise<void> = Promise.resolve();

  get state(): ServerState {
    return this.life === 'ready' && this.checks ? 'checking' : this.life;
  }
  /** Why it does not run, where that is known. */
  get why(): string {
    return this.reason;
  }

  /** The answer to a request, of the server that is starting too; throws where there is none, and what it refuses. */
  async request<T>(method: string, params: object, token?: vscode.CancellationToken): Promise<T> {
    await this.last;
    if (!this.client?.isRunning()) throw new Error('the language server does not run (see the output channel Quern)');
    // A token that is undefined would be one of the params.
    return token ? this.client.sendRequest<T>(method, params, token) : this.client.sendRequest<T>(method, params);
  }

  start(): Promise<void> {
    return this.next(() => this.startNow());
  }
  stop(): Promise<void> {
    return this.next(() => this.stopNow());
  }
  restart(): Promise<void> {
    return this.next(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }
  dispose(): void {
    void this.stop().then(() => {
      this.changed.dispose();
      this.log.dispose();
    });
  }

  private next(step: () => Promise<void>): Promise<void> {
    this.last = this.last.then(step, step);
    return this.last;
  }

  private async startNow(): Promise<void> {
    const command = programOf();
    const listens = vscode.workspace.getConfiguration('quern').get('listen', false);
    const serverOptions: ServerOptions = { command, args: listens ? ['lsp', '--listen'] : ['lsp'] };
    const evaluation = vscode.workspace.getConfiguration('quern').get<object>('evaluation', {});
    const client = new Client('quern', 'Quern', serverOptions, {
      ...clientOptions,
      outputChannel: this.log,
      initializationOptions: { evaluation },
      middleware: this.middleware(),
    });
    this.become('starting');
    try {
      await client.start();
      this.client = client;
      this.become('ready');
      // The client starts a server that has ended again, some times.
      client.onDidChangeState(({ newState }) => {
        if (this.client !== client) return;
        if (newState === State.Running) this.become('ready');
        else if (newState === State.Starting) this.become('starting');
        else this.become('failed', 'it has ended');
      });
    } catch (error) {
      await client.dispose().catch(() => undefined);
      const why = error instanceof Error ? error.message : String(error);
      this.become('failed', why);
      void this.tellMissing(`Quern: \`${command} lsp\` did not start (${why}). Is \`quern.path\` right?`);
    }
  }

  private middleware(): Middleware {
    return {
      window: {
        // The IR that a lens names stands beside the source, like that of the command.
        showDocument: async ({ uri }) => ({ success: await showNamed(vscode.Uri.parse(uri)) }),
      },
      provideDiagnostics: async (document, previous, token, next) => {
        let isLong = false;
        const timer = setTimeout(() => {
          isLong = true;
          this.count(1);
        }, shortCheck);
        try {
          return await next(document, previous, token);
        } finally {
          clearTimeout(timer);
          if (isLong) this.count(-1);
        }
      },
    };
  }

  private become(life: typeof this.life, reason = ''): void {
    [this.life, this.reason] = [life, reason];
    this.changed.fire();
  }
  private count(checks: number): void {
    this.checks += checks;
    this.changed.fire();
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    // A server that does not answer is ended all the same; there is nobody to tell.
    await client?.dispose().catch(() => undefined);
  }

  private async tellMissing(message: string): Promise<void> {
    const open = 'Open Settings';
    if ((await vscode.window.showErrorMessage(message, open)) === open)
      await vscode.commands.executeCommand('workbench.action.openSettings', 'quern.path');
  }
}
