// What opens from the header, in one file: with one of their own each, the first load would have a file more.
export { Palette } from "./palette/palette.tsx";
export { ServerChoice } from "./server-choice.tsx";
