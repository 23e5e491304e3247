// A text in a link: deflated, in the alphabet of base64url, after `#text=`. It never leaves for a server.

const key = '#text=';
/** More than anybody types; a link may say much in few characters. */
const mostBytes = 1 << 20;

async function gathered(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > mostBytes) {
      await reader.cancel();
      throw new Error('the text of the link is longer than 1 MiB');
    }
    chunks.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

const through = (bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream) =>
  gathered(new Blob([bytes]).stream().pipeThrough(transform as ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>));

export async function fragmentOf(text: string): Promise<string> {
  const deflated = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'));
  let bytes = '';
  for (const byte of deflated) bytes += String.fromCharCode(byte);
  return key + btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Nothing where a fragment has no text; fails where it is cut or changed. */
export async function textOf(fragment: string): Promise<string | undefined> {
  if (!fragment.startsWith(key)) return undefined;
  try {
    const bytes = atob(fragment.slice(key.length).replaceAll('-', '+').replaceAll('_', '/'));
    const deflated = Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(await through(deflated, new DecompressionStream('deflate-raw')));
  } catch (error) {
    const why = error instanceof Error && error.message.includes('MiB') ? error.message : 'the link is not whole';
    throw new Error(`${why}: copy all of it again`);
  }
}
