// JSON-RPC 2.0 on a WebSocket, a message in each text frame.

import type { CancellationToken } from 'monaco-editor/editor.js';

/** What the server refuses a request with. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
  }
}

interface Message {
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}
interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const methodNotFound = -32601;
/** The text changed while the answer was worked out: the request is to be sent again. */
const serverCancelled = -32802;
const mostTries = 5;

export class Connection {
  private readonly waiting = new Map<number, Waiting>();
  private readonly handlers = new Map<string, (params: never) => void>();
  private lastId = 0;

  private constructor(
    private readonly socket: WebSocket,
    ended: () => void,
  ) {
    socket.onmessage = ({ data }) => this.receive(JSON.parse(data as string) as Message);
    socket.onclose = () => {
      for (const { reject } of this.waiting.values()) reject(new Error('the server has ended'));
      this.waiting.clear();
      ended();
    };
  }

  /** Fails where the server is not there, or does not know this browser. `ended` is called once the server is gone. */
  static open(url: string, ended: () => void): Promise<Connection> {
    const socket = new WebSocket(url);
    return new Promise((resolve, reject) => {
      socket.onopen = () => resolve(new Connection(socket, ended));
      socket.onclose = () => reject(new Error('there is no server'));
    });
  }

  on<Params>(method: string, handler: (params: Params) => void): void {
    this.handlers.set(method, handler as (params: never) => void);
  }

  notify(method: string, params: unknown): void {
    this.send({ method, params });
  }

  async request<Result>(method: string, params: unknown, token?: CancellationToken): Promise<Result> {
    for (let tries = 1; ; ++tries) {
      try {
        return (await this.ask(method, params, token)) as Result;
      } catch (error) {
        const again = error instanceof Refused && error.code === serverCancelled && tries < mostTries;
        if (!again || token?.isCancellationRequested) throw error;
      }
    }
  }

  private ask(method: string, params: unknown, token?: CancellationToken): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN) return reject(new Error('the server has ended'));
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
      token?.onCancellationRequested(() => {
        if (this.waiting.has(id)) this.notify('$/cancelRequest', { id });
      });
    });
  }

  private receive({ id, method, params, result, error }: Message): void {
    if (method !== undefined) {
      const handler = this.handlers.get(method);
      handler?.(params as never);
      if (id === undefined) return;
      if (handler) this.send({ id, result: null });
      else this.send({ id, error: { code: methodNotFound, message: `the page does not know ${method}` } });
      return;
    }
    const request = this.waiting.get(id as number);
    this.waiting.delete(id as number);
    if (error) request?.reject(new Refused(error.message, error.code));
    else request?.resolve(result);
  }

  private send(message: Message): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }
}
