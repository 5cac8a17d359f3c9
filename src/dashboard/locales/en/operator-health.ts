// English text of the view "operator-health".

export const operatorHealth = {
  title: "Health",
  summary: "How the relay is doing.",
};
