/**
 * The fence in the database: a row that is marked with a replica which was given up changes only by a new generation,
 * which a taking-over replica sets. A late commit of the old one finds no row. The lock on the replica's row makes the
 * giving up wait for commits under way.
 */
/** SQLSTATE of a write by a replica that was given up; of a class that no other error has. */
export const GIVEN_UP = 'SH001';

export const fenceTriggers = `
  CREATE OR REPLACE FUNCTION sandhaven_fence() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE'
        AND (NEW.generation <> OLD.generation OR NEW.holder IS DISTINCT FROM OLD.holder)) THEN
      PERFORM 1 FROM replicas WHERE id = NEW.holder FOR KEY SHARE;
      IF NEW.holder IS NOT NULL AND NOT FOUND THEN
        RAISE EXCEPTION 'this replica was given up' USING ERRCODE = '${GIVEN_UP}';
      END IF;
      IF TG_OP = 'INSERT' OR NEW.generation <> OLD.generation THEN
        RETURN NEW;
      END IF;
    END IF;
    IF OLD.holder IS NULL THEN
      RETURN NEW;
    END IF;
    PERFORM 1 FROM replicas WHERE id = OLD.holder FOR KEY SHARE;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END $$;
  CREATE OR REPLACE TRIGGER fence_insert BEFORE INSERT ON sandboxes
    FOR EACH ROW WHEN (NEW.holder IS NOT NULL) EXECUTE FUNCTION sandhaven_fence();
  CREATE OR REPLACE TRIGGER fence_update BEFORE UPDATE ON sandboxes
    FOR EACH ROW WHEN (OLD.holder IS NOT NULL OR NEW.holder IS NOT NULL) EXECUTE FUNCTION sandhaven_fence();
  CREATE OR REPLACE TRIGGER fence_delete BEFORE DELETE ON sandboxes
    FOR EACH ROW WHEN (OLD.holder IS NOT NULL) EXECUTE FUNCTION sandhaven_fence();
`;
