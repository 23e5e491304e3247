// The page in dist/: everything that it loads, and the licences of what is in it.

import { build } from 'esbuild';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
await build({
  entryPoints: { main: 'src/main.ts', 'editor.worker': 'monaco-editor/editor/editor.worker.js' },
  outdir: 'dist',
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  loader: { '.ttf': 'file', '.relay': 'text' },
  assetNames: '[name]',
  logLevel: 'warning',
});
cpSync('src/index.html', 'dist/index.html');
cpSync('src/icon.svg', 'dist/icon.svg');
const monaco = 'node_modules/monaco-editor';
const texts = ['LICENSE', 'ThirdPartyNotices.txt'].map((file) => readFileSync(`${monaco}/${file}`, 'utf8').trim());
writeFileSync('dist/THIRD_PARTY_LICENCES.txt', `${texts.join(`\n${'-'.repeat(80)}\n\n`)}\n`);
