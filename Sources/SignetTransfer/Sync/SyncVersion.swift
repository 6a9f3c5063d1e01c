import SignetCore

/// The logical time of a change: a Lamport counter, and the machine that made the change.
///
/// The order is total: two machines never have the same id, so of two changes one is always the newer one (L. Lamport, "Time,
/// Clocks, and the Ordering of Events in a Distributed System", 1978).
package struct SyncVersion: Sendable, Hashable, Comparable {
    /// The counter.
    ///
    /// It is greater than that of every change that the machine knew.
    package let counter: Int
    /// The id of the machine.
    package let machine: String

    /// The greatest counter that is read from a file, so that adding 1 never overflows.
    static let maxCounter = 1 << 53

    /// Creates a version.
    package init(counter: Int, machine: String) {
        self.counter = counter
        self.machine = machine
    }

    /// Reads the text of a version; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let counter = Int(parts[0]), (0...Self.maxCounter).contains(counter) else { return nil }
        guard SyncMachine.isID(String(parts[1])) else { return nil }
        self.init(counter: counter, machine: String(parts[1]))
    }

    /// The version as text: the counter, `@` and the machine.
    package var text: String { "\(counter)@\(machine)" }

    package static func < (left: SyncVersion, right: SyncVersion) -> Bool {
        (left.counter, left.machine) < (right.counter, right.machine)
    }
}

/// A machine that takes part in a synchronization, as this machine knows it.
package struct SyncMachine: Sendable, Hashable {
    /// The name that people see.
    package var name: String
    /// The highest sequence number of a file of the machine that was read.
    package var sequence: Int

    /// Creates a machine.
    package init(name: String, sequence: Int) {
        self.name = name
        self.sequence = sequence
    }

    /// The maximum length of a name in characters.
    static let maxNameLength = 64

    /// Returns a new random id: 16 hexadecimal digits.
    package static func newID() -> String { Hexadecimal.text(of: Secret.random(byteCount: 8).bytes).lowercased() }

    /// Returns true for a text that ``newID()`` could have returned.
    static func isID(_ text: String) -> Bool {
        text.utf8.count == 16
            && text.utf8.allSatisfy { digit in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit)
            }
    }

    /// Returns a name that is safe to show: the first characters of `text`, or the id when the text is empty or not safe.
    static func shownName(_ text: String, id: String) -> String {
        guard !text.isEmpty, text.isSafeToShow else { return id }
        return String(text.prefix(maxNameLength))
    }
}
