// English text of the view "plots".

export const plots = {
  title: "Plots",
};
