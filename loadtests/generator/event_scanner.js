// Count the server-sent events in a stream of bytes, by the rules of the HTML standard:
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

const [LINE_FEED, CARRIAGE_RETURN, COLON] = Buffer.from('\n\r:');
const DATA = Buffer.from('data');

// The state of a line. A number below DATA_FIELD means that this many bytes were read, and that all of them match the
// field name `data`.
const DATA_FIELD = DATA.length + 1;
const OTHER = DATA_FIELD + 1;

/**
 * Find the end of each event. A line ends with CRLF, LF or CR. An empty line ends an event if the event contains a
 * field `data`. Comments and other fields don't make an event. The scanner stores no bytes, so a chunk may end
 * anywhere.
 */
export class EventScanner {
  line = 0;
  hasData = false;
  afterReturn = false;

  /** @param {Buffer} chunk @param {() => void} onEvent */
  scan(chunk, onEvent) {
    const hasReturn = chunk.includes(CARRIAGE_RETURN);
    for (let at = 0; at < chunk.length; at++) {
      if (this.line >= DATA_FIELD && !hasReturn) {
        at = chunk.indexOf(LINE_FEED, at); // the rest of the line doesn't matter
        if (at === -1) {
          return;
        }
      }
      const byte = chunk[at];
      const isRest = byte === LINE_FEED && this.afterReturn; // the end of CRLF
      this.afterReturn = byte === CARRIAGE_RETURN;
      if (!isRest && (byte === LINE_FEED || byte === CARRIAGE_RETURN)) {
        this.endLine(onEvent);
      } else if (!isRest && this.line < DATA_FIELD) {
        this.line = after(this.line, byte);
      }
    }
  }

  endLine(/** @type {() => void} */ onEvent) {
    if (this.line !== 0) {
      this.hasData ||= this.line === DATA.length || this.line === DATA_FIELD;
    } else if (this.hasData) {
      this.hasData = false;
      onEvent();
    }
    this.line = 0;
  }
}

/** @param {number} line @param {number} byte */
function after(line, byte) {
  if (line === DATA.length) {
    return byte === COLON ? DATA_FIELD : OTHER;
  }
  return byte === DATA[line] ? line + 1 : OTHER;
}
