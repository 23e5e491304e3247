// How texts look before, and without, the server's word on their colours.

import * as monaco from 'monaco-editor/editor.js';
import configuration from '../../vscode/language-configuration.json';
import { language } from './documents';

const strings: monaco.languages.IMonarchLanguageRule = [/"(?:[^"\\]|\\.)*"/, 'string'];
const numbers: monaco.languages.IMonarchLanguageRule = [/\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\w*/, 'number'];

const quern: monaco.languages.IMonarchLanguage = {
  keywords: [
    ...['def', 'op', 'extern', 'type', 'static', 'import', 'as', 'infix', 'test', 'let', 'free_var', 'fn', 'if', 'else', 'for'],
    ...['match', 'where', 'when', 'warn', 'schedule', 'lowering', 'needs', 'and', 'or', 'not', 'True', 'False', 'None'],
    // Of the loops of kernels.
    ...['kernel', 'parallel', 'vectorize', 'unroll', 'in', 'alloc', 'while'],
  ],
  tokenizer: {
    root: [
      [/\/\/.*$/, 'comment'],
      [/\/\*/, 'comment', '@comment'],
      strings,
      [/%[A-Za-z_]\w*|%\d+/, 'variable'],
      [/@[A-Za-z_][\w.]*/, 'function'],
      [/\b(?:u?int|float|bfloat|bool)\d*(?:x\d+)?\b|\b[A-Z]\w*/, { cases: { '@keywords': 'keyword', '@default': 'type' } }],
      numbers,
      [/[a-z_]\w*(?:\.\w+)*(?=\s*\()/, { cases: { '@keywords': 'keyword', '@default': 'function' } }],
      [/[a-z_]\w*/, { cases: { '@keywords': 'keyword', '@default': 'parameter' } }],
    ],
    // Comments nest.
    comment: [
      [/\/\*/, 'comment', '@push'],
      [/\*\//, 'comment', '@pop'],
      [/[^/*]+|./, 'comment'],
    ],
  },
};

const llvm: monaco.languages.IMonarchLanguage = {
  keywords: [
    ...['define', 'declare', 'target', 'attributes', 'ret', 'br', 'label', 'phi', 'call', 'load', 'store', 'getelementptr'],
    ...['icmp', 'fcmp', 'select', 'add', 'sub', 'mul', 'fadd', 'fsub', 'fmul', 'fdiv', 'switch', 'unreachable', 'align', 'to'],
  ],
  tokenizer: {
    root: [
      [/;.*$/, 'comment'],
      strings,
      [/[%!#][\w.$-]+/, 'variable'],
      [/@[\w.$-]+/, 'function'],
      [/^[\w.$-]+:/, 'type'],
      [/\b(?:i\d+|ptr|void|float|double|half|bfloat)\b/, 'type'],
      numbers,
      [/[a-z_][\w.]*/, { cases: { '@keywords': 'keyword', '@default': '' } }],
    ],
  },
};

const asm: monaco.languages.IMonarchLanguage = {
  tokenizer: {
    root: [
      [/#.*$/, 'comment'],
      strings,
      [/^[.\w$@"]+:/, 'function'],
      [/^\s*\.[\w.]+/, 'type'],
      [/^\s*[a-z][\w.]*/, 'keyword'],
      [/%[a-z]\w*/, 'variable'],
      [/\$?-?\b(?:0x[\da-f]+|\d+)\b/, 'number'],
      [/\.L\w+/, 'function'],
    ],
  },
};

interface Colours {
  keyword: string;
  type: string;
  function: string;
  variable: string;
  parameter: string;
  number: string;
  string: string;
  comment: string;
}
const light: Colours = {
  keyword: '8a2e7f',
  type: '00637a',
  function: '7a4b00',
  variable: '1f3f8f',
  parameter: '4a4a55',
  number: '1a6b3a',
  string: 'a3341f',
  comment: '6a6a72',
};
const dark: Colours = {
  keyword: 'd59bdb',
  type: '6fc7d9',
  function: 'e3c584',
  variable: 'a6c1ff',
  parameter: 'c9cad3',
  number: '8fd3a5',
  string: 'eea28f',
  comment: '8f929e',
};

const rules = (colours: Colours): monaco.editor.ITokenThemeRule[] => [
  ...Object.entries(colours).map(([token, foreground]) => ({ token, foreground })),
  { token: 'method', foreground: colours.function },
  { token: 'macro', foreground: colours.keyword },
  { token: 'enumMember', foreground: colours.type },
  { token: 'typeParameter', foreground: colours.number },
  { token: 'namespace', foreground: colours.parameter },
  { token: 'property', foreground: colours.parameter },
];

export function defineLanguages(): void {
  const { languages, editor } = monaco;
  languages.register({ id: language, aliases: ['quern', 'relay'], extensions: ['.relay'] });
  languages.setMonarchTokensProvider(language, quern);
  const { comments, brackets, autoClosingPairs, surroundingPairs, autoCloseBefore, wordPattern } = configuration;
  languages.setLanguageConfiguration(language, {
    comments: { lineComment: comments.lineComment, blockComment: comments.blockComment as [string, string] },
    brackets: brackets as [string, string][],
    autoClosingPairs,
    surroundingPairs: surroundingPairs.map(([open, close]) => ({ open, close })),
    autoCloseBefore,
    wordPattern: new RegExp(wordPattern),
  });
  for (const [id, grammar] of Object.entries({ llvm, asm })) {
    languages.register({ id });
    languages.setMonarchTokensProvider(id, grammar);
  }
  const hints = (foreground: string) => ({ 'editorInlayHint.foreground': foreground, 'editorInlayHint.background': '#00000000' });
  editor.defineTheme('light', {
    base: 'vs',
    inherit: true,
    rules: rules(light),
    colors: { 'editor.background': '#ffffff', 'editorLineNumber.foreground': '#8a8a94', ...hints('#73737d') },
  });
  editor.defineTheme('dark', {
    base: 'vs-dark',
    inherit: true,
    rules: rules(dark),
    colors: { 'editor.background': '#1b1c22', 'editorLineNumber.foreground': '#6d707c', ...hints('#8b8e9a') },
  });
}
