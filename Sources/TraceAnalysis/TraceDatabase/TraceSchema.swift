// The tables of a trace's database.

/// The schema, as docs/database.md describes it.
enum TraceSchema {
  /// The version of the schema, stored in the file's `user_version`. Raised if a column changes its meaning or is
  /// removed.
  static let version = 1

  static let tables = """
    CREATE TABLE runs(
      id INTEGER PRIMARY KEY, trace TEXT NOT NULL, program TEXT NOT NULL, build_id TEXT, process INTEGER NOT NULL,
      started_at REAL, seconds REAL, events INTEGER NOT NULL, is_damaged INTEGER NOT NULL,
      live_blocks INTEGER NOT NULL, live_bytes INTEGER NOT NULL, peak_blocks INTEGER NOT NULL,
      peak_bytes INTEGER NOT NULL, peak_seconds REAL, snapshot INTEGER, findings_unavailable TEXT);
    CREATE TABLE types(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE frames(
      id INTEGER PRIMARY KEY, function TEXT NOT NULL, mangled_name TEXT NOT NULL, file TEXT, line INTEGER,
      kind TEXT NOT NULL, image TEXT NOT NULL);
    CREATE TABLE stacks(
      stack_id INTEGER NOT NULL, depth INTEGER NOT NULL, frame_id INTEGER NOT NULL REFERENCES frames(id),
      PRIMARY KEY(stack_id, depth)) WITHOUT ROWID;
    CREATE TABLE sites(
      id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id),
      type_id INTEGER NOT NULL REFERENCES types(id), stack_id INTEGER NOT NULL,
      user_frame_id INTEGER REFERENCES frames(id), is_cut INTEGER NOT NULL,
      allocated_blocks INTEGER NOT NULL, allocated_bytes INTEGER NOT NULL,
      live_blocks INTEGER NOT NULL, live_bytes INTEGER NOT NULL,
      peak_blocks INTEGER NOT NULL, peak_bytes INTEGER NOT NULL,
      temporary_blocks INTEGER NOT NULL, temporary_bytes INTEGER NOT NULL,
      leaked_blocks INTEGER, leaked_bytes INTEGER, retains INTEGER, releases INTEGER);
    CREATE TABLE findings(
      id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id), fingerprint TEXT NOT NULL,
      verdict TEXT NOT NULL, certainty TEXT NOT NULL, is_weak INTEGER NOT NULL, is_library INTEGER NOT NULL,
      suppression TEXT, title TEXT NOT NULL, instances INTEGER NOT NULL, retained_blocks INTEGER NOT NULL,
      retained_bytes INTEGER NOT NULL, holder TEXT, function TEXT, file TEXT, line INTEGER, advice TEXT NOT NULL);
    CREATE TABLE finding_objects(
      finding_id INTEGER NOT NULL REFERENCES findings(id), position INTEGER NOT NULL, kind TEXT NOT NULL,
      type TEXT NOT NULL, qualified_type TEXT NOT NULL, address TEXT NOT NULL, size INTEGER NOT NULL, library TEXT,
      function TEXT, file TEXT, line INTEGER, PRIMARY KEY(finding_id, position)) WITHOUT ROWID;
    CREATE TABLE finding_references(
      finding_id INTEGER NOT NULL REFERENCES findings(id), position INTEGER NOT NULL, target INTEGER,
      name TEXT NOT NULL, closure TEXT, strength TEXT NOT NULL, is_suspect INTEGER NOT NULL,
      PRIMARY KEY(finding_id, position)) WITHOUT ROWID;
    CREATE TABLE blocks(
      id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id), address TEXT NOT NULL,
      size INTEGER NOT NULL, site_id INTEGER NOT NULL REFERENCES sites(id), kind TEXT NOT NULL,
      allocated_seconds REAL, is_leaked INTEGER, way TEXT);
    CREATE TABLE heap_references(
      source INTEGER NOT NULL, target INTEGER NOT NULL, name TEXT, strength TEXT NOT NULL);
    CREATE TABLE heap_roots(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE task_rows(
      id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id), state TEXT NOT NULL, tasks INTEGER NOT NULL,
      wait TEXT, awaited TEXT, resumed_by TEXT, holder TEXT, root TEXT, is_leaked INTEGER NOT NULL,
      is_cancelled INTEGER NOT NULL, priority INTEGER, function TEXT, file TEXT, line INTEGER, stack TEXT NOT NULL,
      began TEXT, creator TEXT, parent TEXT, is_group_child INTEGER, task_locals TEXT NOT NULL, bytes INTEGER NOT NULL,
      retained_bytes INTEGER NOT NULL);
    CREATE TABLE tasks(
      id INTEGER PRIMARY KEY, row_id INTEGER NOT NULL REFERENCES task_rows(id), address TEXT NOT NULL, name TEXT,
      parent_id INTEGER REFERENCES tasks(id), age_seconds REAL, sleep_clock TEXT, sleep_deadline_seconds REAL,
      sleep_seconds_left REAL);
    CREATE TABLE site_samples(
      site_id INTEGER NOT NULL REFERENCES sites(id), events INTEGER NOT NULL, live_blocks INTEGER NOT NULL,
      PRIMARY KEY(site_id, events)) WITHOUT ROWID;
    CREATE TABLE resident_samples(
      run_id INTEGER NOT NULL REFERENCES runs(id), seconds REAL, resident_bytes INTEGER NOT NULL,
      recorder_bytes INTEGER NOT NULL);
    """

  /// Indices and views, created after the rows are inserted. That is faster, and makes the indices smaller.
  static let views = """
    CREATE INDEX blocks_by_site ON blocks(site_id);
    CREATE INDEX heap_references_by_target ON heap_references(target);
    CREATE INDEX heap_references_by_source ON heap_references(source);
    CREATE VIEW site_list AS
      SELECT s.id, t.name AS type, f.function, f.file, f.line, s.allocated_blocks, s.allocated_bytes, s.live_blocks,
        s.live_bytes, s.peak_blocks, s.peak_bytes, s.temporary_blocks, s.temporary_bytes, s.leaked_blocks,
        s.leaked_bytes, s.retains, s.releases
      FROM sites s JOIN types t ON t.id = s.type_id LEFT JOIN frames f ON f.id = s.user_frame_id;
    CREATE VIEW type_totals AS
      SELECT t.name AS type, count(*) AS sites, sum(s.allocated_blocks) AS allocated_blocks,
        sum(s.allocated_bytes) AS allocated_bytes, sum(s.live_blocks) AS live_blocks, sum(s.live_bytes) AS live_bytes,
        sum(s.leaked_blocks) AS leaked_blocks, sum(s.leaked_bytes) AS leaked_bytes
      FROM sites s JOIN types t ON t.id = s.type_id GROUP BY t.name;
    CREATE VIEW stack_list AS
      SELECT s.stack_id, s.depth, f.function, f.file, f.line, f.kind, f.image
      FROM stacks s JOIN frames f ON f.id = s.frame_id;
    CREATE VIEW function_totals AS
      SELECT f.function, count(*) AS sites, sum(s.allocated_blocks) AS allocated_blocks,
        sum(s.allocated_bytes) AS allocated_bytes, sum(s.live_blocks) AS live_blocks, sum(s.live_bytes) AS live_bytes,
        sum(s.leaked_blocks) AS leaked_blocks, sum(s.leaked_bytes) AS leaked_bytes
      FROM sites s
      JOIN (SELECT DISTINCT k.stack_id, g.function FROM stacks k JOIN frames g ON g.id = k.frame_id) f
        ON f.stack_id = s.stack_id
      GROUP BY f.function;
    CREATE VIEW live_samples AS
      SELECT events, sum(live_blocks) AS live_blocks FROM site_samples GROUP BY events;
    CREATE VIEW finding_paths AS
      SELECT o.finding_id, o.position, o.type, o.function, o.file, o.line, r.name AS reference, r.closure,
        r.strength, r.is_suspect
      FROM finding_objects o LEFT JOIN finding_references r USING (finding_id, position);
    PRAGMA user_version = \(version);
    """
}
