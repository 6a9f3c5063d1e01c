/// One side of a comparison.
struct Contender {
    let name: String
    /// Measures this number of operations, one after another.
    let time: (_ operations: Int) async throws -> Duration

    /// A contender that keeps its own time.
    init(_ name: String, time: @escaping (_ operations: Int) async throws -> Duration) {
        self.name = name
        self.time = time
    }

    /// A contender whose operations are calls.
    ///
    /// What `body` returns is summed up, so that none of the work can be left out.
    static func calls(_ name: String, _ body: @escaping (_ operation: Int) throws -> Int) -> Contender {
        Contender(name) { operations in
            let begin = ContinuousClock.now
            var sum = 0
            for operation in 0..<operations { sum &+= try body(operation) }
            return withExtendedLifetime(sum) { ContinuousClock.now - begin }
        }
    }

    /// A contender whose operations time themselves, since they begin with something that does not count.
    static func timed(_ name: String, _ operation: @escaping () async throws -> Duration) -> Contender {
        Contender(name) { operations in
            var total = Duration.zero
            for _ in 0..<operations { total += try await operation() }
            return total
        }
    }

    /// As ``calls(_:_:)``, for calls that may wait.
    static func asyncCalls(_ name: String, _ body: @escaping (_ operation: Int) async throws -> Int) -> Contender {
        Contender(name) { operations in
            let begin = ContinuousClock.now
            var sum = 0
            for operation in 0..<operations { sum &+= try await body(operation) }
            return withExtendedLifetime(sum) { ContinuousClock.now - begin }
        }
    }
}

/// Two contenders in turns.
///
/// What else the machine does hits both sides of a round alike, and a round that it hits hard is outvoted: every figure is the
/// median over the rounds.
struct Race {
    let ours: Contender
    let reference: Contender
    var rounds = 31
    /// The minimum duration of one side of a round.
    var slice = Duration.milliseconds(20)

    /// One side of the rounds.
    struct Side {
        let name: String
        /// The microseconds of one operation in each round.
        private(set) var times: [Double] = []

        init(_ name: String) { self.name = name }

        /// Adds a round.
        mutating func add(_ microseconds: Double) { times.append(microseconds) }
    }

    /// The result of a race.
    struct Outcome {
        /// Ours over the reference's.
        let ratio: Double
        let ours: Row.Figure
        let reference: Row.Figure
        /// The reference's median over its fastest round: near to one when nothing else kept the machine busy.
        let disturbance: Double
    }

    /// Warms both sides up, then lets them take turns.
    func run() async throws -> Outcome {
        let counts = (ours: try await operations(of: ours), reference: try await operations(of: reference))
        var sides = (ours: Side(ours.name), reference: Side(reference.name))
        for _ in 0..<rounds {
            sides.ours.add(try await microseconds(ours, counts.ours))
            sides.reference.add(try await microseconds(reference, counts.reference))
        }
        return Outcome(sides.ours, sides.reference)
    }

    /// Returns the number of operations that fill a slice.
    ///
    /// Finding out is the warming up.
    private func operations(of contender: Contender) async throws -> Int {
        var operations = 1
        while try await contender.time(operations) < slice { operations *= 2 }
        return operations
    }

    /// The time of one operation, of so many.
    private func microseconds(_ contender: Contender, _ operations: Int) async throws -> Double {
        try await contender.time(operations) / .microseconds(operations)
    }
}

extension Race.Outcome {
    /// The raw figures of an outcome.
    enum Unit {
        /// The duration of one operation.
        case microseconds
        /// The operations in a second.
        case perSecond
    }

    /// The medians over the rounds of two sides that took turns.
    /// - Parameters:
    ///   - ours: Our side.
    ///   - reference: The other side, with as many rounds.
    ///   - unit: The raw figures to show.
    init(_ ours: Race.Side, _ reference: Race.Side, as unit: Unit = .microseconds) {
        self.init(
            ratio: zip(ours.times, reference.times).map { $0 / $1 }.median, ours: ours.figure(unit),
            reference: reference.figure(unit), disturbance: reference.times.median / (reference.times.min() ?? .nan))
    }
}

extension Race.Side {
    /// Returns the median over the rounds.
    fileprivate func figure(_ unit: Race.Outcome.Unit) -> Row.Figure {
        switch unit {
        case .microseconds: Row.Figure(name: name, value: times.median, unit: "µs")
        case .perSecond: Row.Figure(name: name, value: 1e6 / times.median, unit: "/s")
        }
    }
}

extension [Double] {
    /// The middle value, or the mean of the two middle ones.
    ///
    /// Not a number when there is none.
    var median: Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
