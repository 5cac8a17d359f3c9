// Selects one server or all servers above a list. The value "" means all.
import { NativeSelect } from "@mantine/core";
import type { ServerResource } from "../../../core/wire/server.ts";
import { markInvisible } from "../../parts/game-text.tsx";

export function ServerFilter(props: {
  readonly label: string;
  readonly everyLabel: string;
  readonly servers: readonly ServerResource[];
  readonly value: string;
  readonly onChange: (serverId: string) => void;
}) {
  return (
    <NativeSelect
      label={props.label}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      data={[
        { value: "", label: props.everyLabel },
        ...props.servers.map(({ server_id: value, name }) => ({ value, label: markInvisible(name) })),
      ]}
      flex="1 1 12rem"
      maw={{ base: "100%", sm: 320 }}
    />
  );
}
