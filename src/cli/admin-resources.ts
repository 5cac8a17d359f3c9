// What the admin API answers with, as far as the command line shows it. Times are epoch milliseconds.

export type ServerResource = {
  readonly server_id: string;
  readonly name: string;
  readonly community: string | null;
  readonly created_at: number;
};

export type KeyResource = {
  readonly key_id: string;
  readonly server_id: string;
  readonly label: string;
  readonly versions: readonly string[];
  readonly sections: readonly string[];
  readonly commands: readonly string[];
  readonly ip_allow: readonly string[];
  readonly expires_at: number | null;
  readonly suspended: boolean;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
};

export type UsedHour = { readonly hour: number; readonly requests: number; readonly refusals: number };

export type KeyUsage = {
  readonly requests: number;
  /** By error code. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Oldest first; hours without requests are left out. */
  readonly hours: readonly UsedHour[];
};

export type CommandResource = {
  readonly command_id: string;
  readonly server_id: string;
  readonly key_id: string;
  readonly command: string;
  readonly status: string;
  readonly position: number | null;
  readonly queued_at: number;
  readonly sent_at: number | null;
  readonly finished_at: number | null;
  readonly confirmed_at: number | null;
  readonly upstream_code: number | null;
  readonly upstream_message: string | null;
};

export type BlockResource = {
  readonly key_id: string;
  readonly server_id: string;
  readonly label: string;
  readonly blocked_until: number;
};

export type AuditEntry = {
  readonly id: string | number;
  readonly at: number;
  readonly action: string;
  readonly actor: { readonly fingerprint: string; readonly address: string };
  readonly target: unknown;
  readonly details: unknown;
};
