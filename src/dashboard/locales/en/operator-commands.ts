// English text of the view "operator-commands".

export const operatorCommands = {
  title: "Commands",
  summary: "The queue and the recent past, for every server.",
};
