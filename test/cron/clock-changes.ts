/**
 * Runs around clock changes, worked out by hand from the rules in project/cron.ts. Each case lists all runs of a window
 * `after < run <= until`, in UTC.
 */

export interface Window {
  readonly zone: string;
  /** The clock change in the window. */
  readonly change: string;
  readonly after: string;
  readonly until: string;
  /** By expression. Times are `dayThh:mm` in the month of `after`, unless they are longer. */
  readonly runs: Readonly<Record<string, readonly string[]>>;
}

export const windows: readonly Window[] = [
  {
    zone: "Europe/Berlin",
    change:
      "Sunday 29 March 2026: 02:00 becomes 03:00 at 01:00Z; from 23:00 the evening before until midnight",
    after: "2026-03-28T22:00:00Z",
    until: "2026-03-29T22:00:00Z",
    runs: {
      "30 1 * * *": ["29T00:30"],
      "0 2 * * *": ["29T01:00"],
      "30 2 * * *": ["29T01:00"],
      "59 2 * * *": ["29T01:00"],
      "0 3 * * *": ["29T01:00"],
      "0 2,3 * * *": ["29T01:00"],
      "30 2,3 * * *": ["29T01:00", "29T01:30"],
      "0,15,30,45 2 * * *": ["29T01:00"],
      "10-20 2 29 3 *": ["29T01:00"],
      "30 2 * * sun": ["29T01:00"],
      "30 2 * * mon": [],
      "30 2-2 * * *": ["29T01:00"],
      "*/20 2 * * *": [],
      "* 2 * * *": [],
      "30 */2 * * *":
        "28T23:30 29T02:30 29T04:30 29T06:30 29T08:30 29T10:30 29T12:30 29T14:30 29T16:30 29T18:30 29T20:30".split(
          " ",
        ),
    },
  },
  {
    zone: "Europe/Berlin",
    change: "the same night, shorter window",
    after: "2026-03-28T23:30:00Z",
    until: "2026-03-29T03:00:00Z",
    runs: {
      "0 * * * *": ["29T00:00", "29T01:00", "29T02:00", "29T03:00"],
      "*/30 * * * *": "29T00:00 29T00:30 29T01:00 29T01:30 29T02:00 29T02:30 29T03:00".split(" "),
      "0 */2 * * *": ["29T02:00"],
      "0 0-23/2 * * *": ["29T01:00", "29T02:00"],
    },
  },
  {
    zone: "Europe/Berlin",
    change:
      "Sunday 25 October 2026: 03:00 becomes 02:00 at 01:00Z; from 23:00 until midnight a day and an hour later",
    after: "2026-10-24T21:00:00Z",
    until: "2026-10-25T23:00:00Z",
    runs: {
      "30 1 * * *": ["24T23:30"],
      "0 2 * * *": ["25T00:00"],
      "30 2 * * *": ["25T00:30"],
      "59 2 * * *": ["25T00:59"],
      "0 3 * * *": ["25T02:00"],
      "15,45 1,2 * * *": ["24T23:15", "24T23:45", "25T00:15", "25T00:45"],
      "30 2 25 10 *": ["25T00:30"],
      "*/30 2 * * *": ["25T00:00", "25T00:30", "25T01:00", "25T01:30"],
    },
  },
  {
    zone: "Europe/Berlin",
    change: "the same night, shorter window",
    after: "2026-10-24T22:00:00Z",
    until: "2026-10-25T03:00:00Z",
    runs: {
      "30 * * * *": ["24T22:30", "24T23:30", "25T00:30", "25T01:30", "25T02:30"],
      "0 */2 * * *": ["25T00:00", "25T01:00", "25T03:00"],
      "0 0-22/2 * * *": ["25T00:00", "25T03:00"],
      "20 1-3 * * *": ["24T23:20", "25T00:20", "25T02:20"],
    },
  },
  {
    zone: "Europe/Berlin",
    change: "in the repeated hour: fixed-time jobs have run already",
    after: "2026-10-25T01:10:00Z",
    until: "2026-10-26T02:00:00Z",
    runs: {
      "30 2 * * *": ["26T01:30"],
      "*/30 2 * * *": ["25T01:30", "26T01:00", "26T01:30"],
    },
  },
  {
    zone: "America/New_York",
    change: "Sunday 8 March 2026: 02:00 becomes 03:00 at 07:00Z; the whole day",
    after: "2026-03-08T05:00:00Z",
    until: "2026-03-09T04:00:00Z",
    runs: {
      "30 2 * * *": ["08T07:00"],
      "30 2 * * 1-5": [],
      "15 2 8 * *": ["08T07:00"],
      "0 2 8-14 3 */7": ["08T07:00"],
      "*/10 2 8-14 3 */7": [],
      "0 0 * * *": ["09T04:00"],
    },
  },
  {
    zone: "America/New_York",
    change: "Sunday 1 November 2026: 02:00 becomes 01:00 at 06:00Z; the whole day",
    after: "2026-11-01T04:00:00Z",
    until: "2026-11-02T05:00:00Z",
    runs: {
      "30 1 * * *": ["01T05:30"],
      "0 1 * * *": ["01T05:00"],
      "0 2 * * *": ["01T07:00"],
      "30 1,2 * * *": ["01T05:30", "01T07:30"],
      "*/20 1 * * *": ["01T05:00", "01T05:20", "01T05:40", "01T06:00", "01T06:20", "01T06:40"],
      "0 0 1 11 *": [],
    },
  },
  {
    zone: "Australia/Lord_Howe",
    change: "Sunday 5 April 2026: 02:00 becomes 01:30 at 15:00Z of the 4th; the whole day",
    after: "2026-04-04T13:00:00Z",
    until: "2026-04-05T13:30:00Z",
    runs: {
      "15 1 * * *": ["04T14:15"],
      "30 1 * * *": ["04T14:30"],
      "45 1 * * *": ["04T14:45"],
      "0 2 * * *": ["04T15:30"],
      "15,45 1 * * *": ["04T14:15", "04T14:45"],
      "*/15 1 * * *": ["04T14:00", "04T14:15", "04T14:30", "04T14:45", "04T15:00", "04T15:15"],
    },
  },
  {
    zone: "Australia/Lord_Howe",
    change: "the same night, shorter window",
    after: "2026-04-04T13:15:00Z",
    until: "2026-04-04T17:00:00Z",
    runs: {
      "0 * * * *": ["04T14:00", "04T15:30", "04T16:30"],
      "30 * * * *": ["04T13:30", "04T14:30", "04T15:00", "04T16:00", "04T17:00"],
    },
  },
  {
    zone: "Australia/Lord_Howe",
    change: "Sunday 4 October 2026: 02:00 becomes 02:30 at 15:30Z of the 3rd; the whole day",
    after: "2026-10-03T13:30:00Z",
    until: "2026-10-04T13:00:00Z",
    runs: {
      "59 1 * * *": ["03T15:29"],
      "0 2 * * *": ["03T15:30"],
      "15 2 * * *": ["03T15:30"],
      "30 2 * * *": ["03T15:30"],
      "45 2 * * *": ["03T15:45"],
      "0,30 2 * * *": ["03T15:30"],
      "*/10 2 * * *": ["03T15:30", "03T15:40", "03T15:50"],
    },
  },
  {
    zone: "Australia/Lord_Howe",
    change: "the same night, shorter window",
    after: "2026-10-03T13:45:00Z",
    until: "2026-10-03T17:00:00Z",
    runs: {
      "0 * * * *": ["03T14:30", "03T16:00", "03T17:00"],
    },
  },
  {
    zone: "America/Santiago",
    change: "Sunday 6 September 2026: midnight becomes 01:00 at 04:00Z; Saturday and Sunday",
    after: "2026-09-05T04:00:00Z",
    until: "2026-09-07T03:00:00Z",
    runs: {
      "30 0 * * *": ["05T04:30", "06T04:00"],
      "0 0 * * *": ["06T04:00", "07T03:00"],
      "0 0 * * 0": ["06T04:00"],
      "0 0 * * 6": [],
      "30 0 6 9 *": ["06T04:00"],
      "0 1 * * *": ["05T05:00", "06T04:00"],
      "0,30 0,1 * * sun": ["06T04:00", "06T04:30"],
      "*/30 0 * * *": ["05T04:30", "07T03:00"],
    },
  },
  {
    zone: "America/Santiago",
    change: "Saturday 4 April 2026: midnight becomes 23:00 at 03:00Z of the 5th; Saturday and Sunday",
    after: "2026-04-04T03:00:00Z",
    until: "2026-04-06T04:00:00Z",
    runs: {
      "30 23 * * *": ["05T02:30", "06T03:30"],
      "30 23 * * 6": ["05T02:30"],
      "59 23 4 * *": ["05T02:59"],
      "0 0 * * *": ["05T04:00", "06T04:00"],
      "0 0 * * 0": ["05T04:00"],
      "*/30 23 4 4 *": ["05T02:00", "05T02:30", "05T03:00", "05T03:30"],
    },
  },
  {
    zone: "Pacific/Auckland",
    change: "Sunday 5 April 2026: 03:00 becomes 02:00 at 14:00Z of the 4th; the whole day",
    after: "2026-04-04T11:00:00Z",
    until: "2026-04-05T12:00:00Z",
    runs: {
      "30 2 * * *": ["04T13:30"],
      "0 3 * * *": ["04T15:00"],
      "15 1-3 * * *": ["04T12:15", "04T13:15", "04T15:15"],
      "*/30 2 * * 0": ["04T13:00", "04T13:30", "04T14:00", "04T14:30"],
    },
  },
  {
    zone: "Pacific/Auckland",
    change: "Sunday 27 September 2026: 02:00 becomes 03:00 at 14:00Z of the 26th; the whole day",
    after: "2026-09-26T12:00:00Z",
    until: "2026-09-27T11:00:00Z",
    runs: {
      "30 2 * * *": ["26T14:00"],
      "0 2 27 9 *": ["26T14:00"],
      "5 1-4 * * *": ["26T13:05", "26T14:00", "26T14:05", "26T15:05"],
      "5 1-4/2 * * *": ["26T13:05", "26T14:05"],
    },
  },
  {
    zone: "Antarctica/Troll",
    change: "Sunday 29 March 2026: two hours, 01:00 becomes 03:00 at 01:00Z; the whole day",
    after: "2026-03-29T00:00:00Z",
    until: "2026-03-29T22:00:00Z",
    runs: {
      "0 1 * * *": ["29T01:00"],
      "30 1,2 * * *": ["29T01:00"],
      "30 1,2,3 * * *": ["29T01:00", "29T01:30"],
    },
  },
  {
    zone: "Antarctica/Troll",
    change: "Sunday 25 October 2026: two hours, 03:00 becomes 01:00 at 01:00Z; until 03:00",
    after: "2026-10-24T22:30:00Z",
    until: "2026-10-25T03:00:00Z",
    runs: {
      "30 1 * * *": ["24T23:30"],
      "30 2 * * *": ["25T00:30"],
      "45 * * * *": ["24T22:45", "24T23:45", "25T00:45", "25T01:45", "25T02:45"],
    },
  },
  {
    zone: "Pacific/Apia",
    change: "there was no Friday 30 December 2011: Thursday's midnight, 10:00Z of the 30th, began Saturday",
    after: "2011-12-29T10:00:00Z",
    until: "2011-12-31T10:00:00Z",
    runs: {
      "0 12 * * *": ["29T22:00", "30T22:00"],
      "0 0 * * *": ["30T10:00", "31T10:00"],
      "0 0 30 12 *": [],
      "0 12 * * fri": [],
      "0 */12 * * *": ["29T22:00", "30T10:00", "30T22:00", "31T10:00"],
    },
  },
  {
    zone: "Pacific/Kwajalein",
    change: "there was no Saturday 21 August 1993: Friday's midnight, 12:00Z of the 21st, began Sunday",
    after: "1993-08-20T12:00:00Z",
    until: "1993-08-22T12:00:00Z",
    runs: {
      "0 12 * * *": ["21T00:00", "22T00:00"],
      "0 12 21 8 *": [],
    },
  },
  {
    zone: "Antarctica/Casey",
    change:
      "9 March 2023: three hours, 03:00 became 00:00 at 16:00Z of the 8th. Vixie's cron runs the job twice",
    after: "2023-03-08T13:00:00Z",
    until: "2023-03-09T04:00:00Z",
    runs: {
      "30 1 * * *": ["08T14:30"],
    },
  },
  {
    zone: "America/Nuuk",
    change:
      "Saturday 28 March 2026: 23:00 becomes 00:00 of the 29th at 01:00Z. Vixie's cron runs 23:30 at that time",
    after: "2026-03-28T12:00:00Z",
    until: "2026-03-30T00:30:00Z",
    runs: {
      "30 23 * * *": ["30T00:30"],
      "30 22 * * *": ["29T00:30", "29T23:30"],
      "0 0 * * *": ["29T01:00"],
    },
  },
  {
    zone: "Africa/Monrovia",
    change: "7 January 1972: midnight became 00:44:30, the one gap that did not end on a minute",
    after: "1972-01-06T12:00:00Z",
    until: "1972-01-08T00:30:00Z",
    runs: {
      "0 12 * * *": ["1972-01-06T12:44:30Z", "1972-01-07T12:00:00Z"],
      "30 0 * * *": ["1972-01-07T00:44:30Z", "1972-01-08T00:30:00Z"],
      "45 0 * * *": ["1972-01-07T00:45:00Z"],
    },
  },
];

/** One entry for each expression of each window. */
export const cases: readonly {
  zone: string;
  change: string;
  after: string;
  until: string;
  expression: string;
  expected: string[];
}[] = windows.flatMap(({ runs, ...window }) =>
  Object.entries(runs).map(([expression, times]) => ({
    ...window,
    expression,
    expected: times.map((time) =>
      new Date(time.length > 8 ? time : `${window.after.slice(0, 8)}${time}:00Z`).toISOString(),
    ),
  })),
);
