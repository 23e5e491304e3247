declare module '*.relay' {
  const text: string;
  export default text;
}
declare module '*.css';
declare module 'monaco-editor/features/register.all.js';
