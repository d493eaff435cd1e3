/** One complaint as a row of the FTC's file; the phone in national form. */
interface TestComplaint {
  readonly created: string;
  readonly state?: string;
  readonly subject?: string;
  readonly phone?: string;
}

const header =
  'Company_Phone_Number,Created_Date,Violation_Date,Consumer_City,Consumer_State,Consumer_Area_Code,Subject,Recorded_Message_Or_Robocall\n';

/** A file of complaints as the FTC gives them out. `created` is `YYYY-MM-DD HH:MM:SS`. */
export function complaintFile(rows: readonly TestComplaint[]): string {
  return (
    header +
    rows
      .map(
        ({ created, state = 'Texas', subject = 'Other', phone = '2025550143' }) =>
          `${phone},${created},,Springfield,${state},555,${subject},Y\n`,
      )
      .join('')
  );
}

const states = ['Texas', 'Ohio', 'Utah', 'Maine', 'Iowa', 'Oregon', 'Nevada', 'Idaho'];

/** Complaints about one number from eight states about each of the days: more than any rule needs. */
export function severalStates(...days: string[]): TestComplaint[] {
  return days.flatMap((day) => states.map((state, at) => ({ created: `${day} 0${at}:00:00`, state })));
}
