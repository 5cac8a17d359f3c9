// English text of the list of keys.

export const keyboard = {
  title: "Keyboard",
  on: "Single keys work",
  onHint:
    "Switch them off if you speak to your computer, or if they get in your way. This browser remembers it.",
  search: "search in this view",
  help: "show this list",
  close: "close a dialog or a menu",
  views: "Go to a view",
  hint: "One key after the other, on any layout. They do nothing while you type or while a dialog is open.",
};
