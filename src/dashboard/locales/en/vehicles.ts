// English text of the view "vehicles".

export const vehicles = {
  title: "Vehicles",
  summary: "Every vehicle on the server.",
  empty: "There are no vehicles on the server",
  column: { name: "Vehicle", owner: "Owner", plate: "Plate", texture: "Livery", colour: "Colour" },
};
