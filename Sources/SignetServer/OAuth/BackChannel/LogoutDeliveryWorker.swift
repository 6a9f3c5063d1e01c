import Foundation
import Logging
import ServiceLifecycle
import SignetCore
import SignetNetwork

/// The service that sends logout tokens to clients (OpenID Connect Back-Channel Logout 1.0 section 2.5).
///
/// Waiting tokens are kept in the state, so a worker that starts finds those that an earlier worker left. Each of the servers that
/// share a state has a worker. A worker claims a token for a limited time before it sends the token, so that no two workers send it
/// at the same time. The claim lasts longer than an attempt, which ends with the head of the response or with the ``timeout``.
///
/// A status of 2xx is the client's acceptance, and 400 its refusal, whatever the body is. After anything else the worker tries
/// again, with growing pauses (``LogoutDelivery/pause(after:)``), at most ``LogoutDelivery/maxAttempts`` times. The pauses are in
/// the server's time, so that a test can move the clock. The token is signed at each attempt, because it is valid for two minutes
/// only.
///
/// The addresses come from the configuration of the server only, and redirects are not followed.
struct LogoutDeliveryWorker: Service {
    let server: ServerContext
    let transport: AsyncHTTPTransport
    /// The timeout of one attempt, by the machine's clock.
    var timeout: Duration = .seconds(10)

    /// The interval at which the worker looks for tokens in the state that another server has left, in seconds.
    static let round = 10

    func run() async throws {
        let schedule = LogoutSchedule()
        server.logoutSignals.join(schedule)
        defer { server.logoutSignals.leave(schedule) }
        await withDiscardingTaskGroup { group in
            group.addTask { await wakeInTime() }
            for await _ in schedule.wakes.cancelOnGracefulShutdown() {
                if schedule.takeSearch() { await search(for: schedule) }
                while let entry = schedule.next() {
                    group.addTask {
                        await deliver(entry.name)
                        schedule.finish(entry)
                    }
                }
            }
            // Deliveries in progress are canceled, so that the shutdown does not wait for a client.
            group.cancelAll()
        }
    }

    /// Wakes the worker when it starts, at intervals of ``round``, and when a token is due.
    private func wakeInTime() async {
        var seconds = 0
        repeat {
            if seconds.isMultiple(of: Self.round) || server.logoutSignals.isDue(at: server.clock.now) {
                server.logoutSignals.wake()
            }
            seconds += 1
        } while (try? await Task.sleep(for: .seconds(1))) != nil
    }

    /// Looks for the tokens to send now, of the clients for which the schedule has none.
    private func search(for schedule: LogoutSchedule) async {
        let machine = server.machineClock.now
        let clients = server.clients.all.filter { $0.backchannelLogoutURI != nil }.map { $0.key }
            .filter { !schedule.hasFound($0) }
        // Most servers have no client that is informed.
        guard !clients.isEmpty else { return }
        do {
            let due = try await server.store.read { tx in
                try clients.map { client in try tx.logouts.due(to: client, at: tx.now, machine: machine) }
            }
            for (client, due) in zip(clients, due) { schedule.add(due.names, of: client) }
            server.logoutSignals.expect(due.compactMap { $0.next }.min())
        } catch {
            server.logger.error("the logout tokens that wait for clients cannot be read", metadata: ["error": "\(error)"])
        }
    }

    /// The result of one attempt.
    enum Outcome: Sendable, Hashable {
        /// The client accepted the token.
        case delivered
        /// The client refused the token; a repetition has the same result.
        case refused
        /// The attempt failed, for this reason.
        case failed(String)
        /// No attempt can succeed, for this reason.
        case undeliverable(String)
        /// The deadline has passed.
        case expired
        /// The task was canceled, so the result is unknown.
        case interrupted
    }

    /// Claims a token, sends it once and stores the outcome.
    /// - Parameter name: The name of the token's row.
    func deliver(_ name: String) async {
        guard !Task.isCancelled else { return }
        let holder = RandomID.token()
        do {
            guard let (delivery, time) = try await claim(name, holder) else { return }
            let outcome = await attempt(delivery, time)
            try await store(outcome, of: delivery, by: holder)
        } catch {
            // The claim expires, and a later search finds the token again.
            server.logger.error(
                "the result of a logout token's delivery cannot be stored", metadata: ["token": "\(name)", "error": "\(error)"])
            // Otherwise the worker would try again at once, as long as the state can be read but not written.
            try? await Task.sleep(for: .seconds(Self.round))
        }
    }

    private func claim(_ name: String, _ holder: String) async throws -> (LogoutDelivery, RequestTime)? {
        let machine = server.machineClock.now
        let claim = DispatchClaim(holder: holder, end: machine.addingTimeInterval(timeout / .seconds(1) + 20))
        return try await server.store.write { tx in
            try tx.logouts.claim(name, claim, at: tx.now, machine: machine).map { ($0, tx.time) }
        }
    }

    /// Sends a token.
    private func attempt(_ delivery: LogoutDelivery, _ time: RequestTime) async -> Outcome {
        guard time.now < delivery.deadline else { return .expired }
        guard let client = server.clients[delivery.client], let url = client.backchannelLogoutURI,
            RegisteredClient.isBackChannelURI(url)
        else {
            return .undeliverable("the backchannelLogoutURI of the client is not valid")
        }
        let token: String
        do {
            token = try await server.signer.sign(
                delivery.claims(time), with: client.idTokenSigningAlgorithm, type: TokenSigner.logoutType)
        } catch {
            guard !Task.isCancelled else { return .interrupted }
            server.logger.error("a logout token could not be signed", metadata: ["error": "\(error)"])
            return .failed("the logout token could not be signed")
        }
        let request = HTTPRequest(
            "POST", url, headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array(FormCoding.encode([(name: "logout_token", value: token)]).utf8), timeout: timeout)
        let began = ContinuousClock.now
        var status = 0
        var reason: String?
        do {
            status = try await transport.status(of: request)
        } catch {
            reason = error.reason
        }
        guard status != 0 || !Task.isCancelled else { return .interrupted }
        server.requestLog.add(
            .logout(
                RequestLogEntry.Logout(
                    client: delivery.client.id, realm: delivery.client.realm.description, attempt: delivery.failures + 1,
                    status: status, duration: .now - began)),
            at: server.clock.now)
        switch status {
        case 200..<300: return .delivered
        case 400: return .refused
        default: return .failed(reason ?? "the client answered with the status \(status)")
        }
    }

    private func store(_ outcome: Outcome, of delivery: LogoutDelivery, by holder: String) async throws {
        let name = delivery.rowName
        switch outcome {
        case .delivered:
            _ = try await finish(name, by: holder, .delivered)
        case .refused:
            guard try await finish(name, by: holder, .refused) else { return }
            warn("a client refused a logout token", delivery)
        case .expired:
            guard try await finish(name, by: holder, .failed) else { return }
            warn("a logout token expired before a client accepted it", delivery)
        case .undeliverable(let reason):
            guard try await finish(name, by: holder, .failed) else { return }
            warn(Self.undelivered, delivery, reason: reason)
        case .failed(let reason):
            let isLast = try await server.store.write { tx in
                let isLast = try tx.logouts.fail(name, by: holder, at: tx.now)
                if isLast { tx.count(.backChannelLogout(.failed)) }
                return isLast
            }
            // The worker learns the time of the next attempt.
            server.logoutSignals.wake()
            guard isLast else { return }
            warn(Self.undelivered, delivery, reason: reason)
        case .interrupted:
            // The next worker sends the token again, with the same `jti`.
            try await server.store.write { tx in try tx.logouts.release(name, by: holder) }
        }
    }

    /// Removes a token, and returns false when another holder has claimed it since.
    private func finish(_ name: String, by holder: String, _ result: MetricEvent.BackChannelLogout) async throws -> Bool {
        try await server.store.write { tx in
            let isFinished = try tx.logouts.finish(name, by: holder)
            if isFinished { tx.count(.backChannelLogout(result)) }
            return isFinished
        }
    }

    private static let undelivered = "a logout token could not be delivered to a client"

    private func warn(_ message: String, _ delivery: LogoutDelivery, reason: String? = nil) {
        var metadata: Logger.Metadata = [
            "client": "\(delivery.client.id)", "realm": "\(delivery.client.realm)", "token": "\(delivery.id)",
        ]
        if let reason { metadata["reason"] = "\(reason)" }
        server.logger.warning("\(message)", metadata: metadata)
    }
}
