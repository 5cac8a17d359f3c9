-- People sign in instead: what 0.2 remembered of a key's devices and links ends. The next start says how many there were.
INSERT INTO settings (name, value)
  SELECT 'ended-devices', ended || '' FROM (
    SELECT (SELECT count(*) FROM devices) + (SELECT count(*) FROM links) AS ended
  ) AS counted WHERE ended > 0;
DROP TABLE devices;
DROP TABLE links;
