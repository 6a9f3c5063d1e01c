import Foundation
import SignetCore
import TestSupport

/// `signet serve` as a process of its own, asked over loopback by this one: logins beside the same logins at providers of other
/// projects, how even they are, how soon the server answers, and what it takes.
enum ServerRows {
    static func measure(signet: String) async throws -> [Row] {
        try await start(signet) + WholeLoginRows.measure(signet: signet) + logins(signet) + [TraceRow.measure(signet: signet)]
            + WaitingRows.measure(signet: signet)
    }

    // MARK: Start and size

    private static let startLimit = 0.1
    private static let idleLimit = 45.0

    private static func start(_ signet: String) async throws -> [Row] {
        var (times, sizes) = ([Double](), [Double]())
        for _ in 0..<11 {
            let began = ContinuousClock.now
            let server = try MeasuredServer(signet)
            try await LoadClient.with { client in
                _ = try await client.send("GET", "\(server.url)/health")
                times.append((ContinuousClock.now - began) / .seconds(1))
            }
            sizes.append(try server.residentMebibytes())
            try server.stop()
        }
        return [
            Row("signet serve, from its start to its first answer", of: "signet serve", times.median, atMost: startLimit, "s"),
            Row("signet serve, idle memory", of: "signet serve", sizes.median, atMost: idleLimit, "MiB"),
        ]
    }

    // MARK: Logins

    private static func logins(_ signet: String) async throws -> [Row] {
        let server = try MeasuredServer(signet)
        return try await LoadClient.with { client in
            let ours = DevServerLogin(server: LoadedServer(server, client))
            var rows = [try await evenness(ours)]
            rows.append(
                try await beside("glewlwyd", Glewlwyd.isPossible, ours) { race in
                    try await Glewlwyd.with { try await race(GlewlwydLogin(provider: $0, client: client)) }
                })
            rows.append(
                try await beside("django-oauth-toolkit", DjangoProvider.isPossible, ours) { race in
                    try await DjangoProvider.with { try await race(DjangoLogin(provider: $0, client: client)) }
                })
            try server.stop()
            return rows
        }
    }

    private static func beside(
        _ name: String, _ isPossible: Bool, _ ours: any LoginFlow,
        _ run: (_ race: (any LoginFlow) async throws -> Row) async throws -> Row
    ) async throws -> Row {
        let title = "logins (password, code, token), beside \(name)"
        guard isPossible else { return .skipped(title, because: "there is no \(name)") }
        return try await run { theirs in
            try await ours.logIn()
            try await theirs.logIn()
            var sides = (ours: Race.Side("signet serve"), reference: Race.Side(name))
            for _ in 0..<5 {
                sides.ours.add(try await Load.throughput(ours))
                // Some fail when several come at once, and are faster when one comes after the other: the better of the two counts.
                let together = try await Load.throughput(theirs, mayFail: true)
                sides.reference.add(min(together, try await Load.throughput(theirs, people: 1)))
            }
            return Row(title, Race.Outcome(sides.ours, sides.reference, as: .perSecond), .atLeast(5))
        }
    }

    /// Milliseconds.
    ///
    /// On a machine that lets this process wait longer than that, the server waits too, and the slowest logins tell of the
    /// machine.
    private static let maxLateness = 5.0

    /// Compares the slowest of a hundred logins with the median one, at half of the server's maximum load.
    private static func evenness(_ login: any LoginFlow) async throws -> Row {
        for _ in 0..<3 { _ = try await Load.throughput(login) }
        let maxThroughput = 1e6 / (try await Load.throughput(login))
        let title = "a login at half load: the slowest of a hundred, beside the middle"
        let (times, lateness) = try await Load.latencies(login, perSecond: maxThroughput / 2, for: .seconds(10))
        guard lateness.percentile99 < maxLateness else {
            return .skipped(
                title, because: "the machine is too busy: this process itself is woken \(Int(lateness.percentile99)) ms late")
        }
        let (middle, slow) = (times.median, times.percentile99)
        return Row(
            name: title, ratio: slow / middle, limit: .atMost(10),
            ours: Row.Figure(name: "p99", value: slow, unit: "ms"), reference: Row.Figure(name: "p50", value: middle, unit: "ms"))
    }
}

/// Logins in numbers.
enum Load {
    /// The duration of one measurement.
    private static let slice = Duration.seconds(2)

    /// Measures logins while several users log in again and again.
    /// - Parameters:
    ///   - flow: The login to repeat.
    ///   - people: The number of users that log in at the same time.
    ///   - mayFail: True to leave failed logins out of the count instead of stopping.
    /// - Returns: The microseconds per login: the elapsed time divided by the number of logins of all users.
    /// - Throws: The error of a failed login, unless `mayFail` is true.
    static func throughput(_ flow: any LoginFlow, people: Int = 8, mayFail: Bool = false) async throws -> Double {
        let (began, end) = (ContinuousClock.now, ContinuousClock.now + slice)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<people {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now < end {
                        do {
                            try await flow.logIn()
                            count += 1
                        } catch  where mayFail {}
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return (ContinuousClock.now - began) / .microseconds(max(1, count))
    }

    /// Compares the rates of two logins in turns.
    /// - Parameters:
    ///   - ours: Our side, and its name.
    ///   - reference: The other side, and its name.
    ///   - people: The number of users that log in at the same time.
    ///   - rounds: The number of rounds that count, after three that warm up both.
    /// - Returns: The medians over the rounds.
    /// - Throws: The error of a failed login.
    static func compare(
        _ ours: (name: String, flow: any LoginFlow), _ reference: (name: String, flow: any LoginFlow), people: Int = 8,
        rounds: Int
    ) async throws -> Race.Outcome {
        var sides = (ours: Race.Side(ours.name), reference: Race.Side(reference.name))
        for round in -3..<rounds {
            let own = try await throughput(ours.flow, people: people)
            let other = try await throughput(reference.flow, people: people)
            guard round >= 0 else { continue }
            sides.ours.add(own)
            sides.reference.add(other)
        }
        return Race.Outcome(sides.ours, sides.reference, as: .perSecond)
    }

    /// Returns the duration of each login and the delay of its start, in milliseconds.
    ///
    /// Logins begin at even times, and do not wait for earlier ones.
    static func latencies(
        _ flow: any LoginFlow, perSecond: Double, for time: Duration
    ) async throws -> (times: [Double], lateness: [Double]) {
        let (began, count) = (ContinuousClock.now, Int(perSecond * (time / .seconds(1))))
        return try await withThrowingTaskGroup(of: Double.self) { group in
            var lateness: [Double] = []
            for index in 0..<count {
                let due = began + .microseconds(Int64(Double(index) / perSecond * 1e6))
                try await Task.sleep(until: due, tolerance: .zero, clock: .continuous)
                lateness.append((ContinuousClock.now - due) / .milliseconds(1))
                group.addTask {
                    try await flow.logIn()
                    return (ContinuousClock.now - due) / .milliseconds(1)
                }
            }
            return (try await group.reduce(into: []) { $0.append($1) }, lateness)
        }
    }
}

extension [Double] {
    /// The value that 99 of a hundred do not exceed.
    ///
    /// Not a number when there is none.
    fileprivate var percentile99: Double { isEmpty ? .nan : sorted()[Swift.min(count - 1, count * 99 / 100)] }
}
