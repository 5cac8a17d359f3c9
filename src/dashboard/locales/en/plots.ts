// English text of the view "plots".

export const plots = {
  title: "Plots",
  summary: "What happened while this page was open.",
  waiting: "Not enough seen yet",
  waitingText:
    "A line needs two readings. They come every few seconds while this page is open; the plots begin by themselves.",
  presence: "Players and queue",
  moves: "Joins and leaves a minute",
  players: "Players",
  queue: "Queue",
  joins: "Joins a minute",
  leaves: "Leaves a minute",
  now: "now",
  at: "at {{time}}",
  noValue: "–",
  span: "Seen since {{time}}, {{readings}} readings.",
  described: "{{name}}: now {{now}}, lowest {{low}}, highest {{high}}",
  hide: "Hide {{name}}",
  show: "Show {{name}}",
  table: "The numbers as a table",
  tableCaption: "One row a minute, the newest first",
  time: "Time",
  joinsCount: "Joins",
  leavesCount: "Leaves",
};
