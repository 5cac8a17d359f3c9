// A small line of the last day, without axes, with a hole where nothing is known.
const WIDTH = 240;
const HEIGHT = 40;

/** Nothing when no value is known. */
export function Spark({ values, label }: { readonly values: readonly (number | null)[]; readonly label: string }) {
  const path = drawLine(values);
  if (path === "") return null;
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={path} />
    </svg>
  );
}

/** Each known value is one step; an unknown one lifts the pen. */
export function drawLine(values: readonly (number | null)[]): string {
  const max = values.reduce<number>((most, value) => Math.max(most, value ?? 0), 1);
  const step = WIDTH / Math.max(values.length - 1, 1);
  let isDown = false;
  let path = "";
  for (const [index, value] of values.entries()) {
    if (value !== null) {
      const y = HEIGHT - 1 - (value / max) * (HEIGHT - 2);
      path += `${isDown ? "L" : "M"}${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    }
    isDown = value !== null;
  }
  return path;
}
