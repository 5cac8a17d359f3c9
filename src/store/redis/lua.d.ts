// Lua scripts are imported as their text.
declare module "*.lua" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: an import of a text has no other name.
  export default text;
}
