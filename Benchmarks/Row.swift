/// One line of the table: ours beside a reference, and the limit of their ratio.
struct Row: Codable, Sendable {
    /// The two things that are compared.
    let name: String
    /// For a limit of ``Direction/atMost``, and without a limit: ours over the reference's, the median over all rounds.
    ///
    /// For ``Direction/atLeast`` the reference's over ours: how many times as fast we are.
    var ratio: Double?
    /// The ratio that is required; nil for a row that is only there for the record.
    var limit: Double?
    /// The ratio that the project aims at.
    var ambition: Double?
    /// On which side of the limit the ratio must be.
    var direction: Direction?
    /// True when the ratio is within the limit.
    var holds: Bool?
    /// Our raw figure, the median over all rounds.
    ///
    /// The rounds' ratios have a median of their own, so the quotient of the raw figures can differ from ``ratio`` a little.
    var ours: Figure?
    /// The reference's raw figure.
    var reference: Figure?
    /// The reason for a missing measurement.
    var skipped: String?

    /// The side of a limit.
    enum Direction: String, Codable, Sendable {
        case atMost, atLeast
    }

    /// A raw figure.
    struct Figure: Codable, Sendable {
        /// The name of the measured side.
        let name: String
        let value: Double
        let unit: String
    }
}

extension Row {
    /// A row for what was measured.
    init(_ name: String, _ outcome: Race.Outcome, _ limit: Limit) {
        let ratio = limit.direction == .atLeast ? 1 / outcome.ratio : outcome.ratio
        self.init(name: name, ratio: ratio, limit: limit, ours: outcome.ours, reference: outcome.reference)
    }

    /// A row for two figures other than durations.
    init(name: String, ratio: Double, limit: Limit, ours: Figure, reference: Figure) {
        self.init(name: name, ratio: ratio, limit: limit.value, ambition: limit.ambition, direction: limit.direction)
        holds =
            switch (limit.direction, limit.value) {
            case (.atMost?, let value?): ratio <= value
            case (.atLeast?, let value?): ratio >= value
            default: nil
            }
        self.ours = ours
        self.reference = reference
    }

    /// A row for a figure beside its limit, in the same unit.
    init(_ name: String, of measured: String, _ value: Double, atMost limit: Double, _ unit: String) {
        self.init(
            name: name, ratio: value / limit, limit: .atMost(1), ours: Figure(name: measured, value: value, unit: unit),
            reference: Figure(name: "the limit", value: limit, unit: unit))
    }

    /// A row that cannot be measured here.
    static func skipped(_ name: String, because reason: String) -> Row { Row(name: name, skipped: reason) }
}

/// The limit of a ratio.
struct Limit {
    var direction: Row.Direction?
    var value: Double?
    var ambition: Double?

    /// Ours may take so many times as long, or as much, as the reference.
    static func atMost(_ value: Double, ambition: Double? = nil) -> Limit {
        Limit(direction: .atMost, value: value, ambition: ambition)
    }

    /// Ours must be so many times as fast as the reference.
    static func atLeast(_ value: Double) -> Limit { Limit(direction: .atLeast, value: value) }

    /// No limit: the row is there for the record.
    static let none = Limit()
}
