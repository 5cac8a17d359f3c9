CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit EXECUTE FUNCTION refuse_change();
