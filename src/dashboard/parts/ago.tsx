// Shows how long ago something was; the date and time are its title.
import { useFormat } from "../state/use-format.ts";
import { useRelativeTime, useSharedNow } from "./moment.tsx";

/** `at` is in epoch milliseconds. */
export function Ago({ at }: { readonly at: number }) {
  const format = useFormat();
  const relative = useRelativeTime();
  const now = useSharedNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={format.dateTime(at)} className="moment numbers">
      {relative(at, now)}
    </time>
  );
}
