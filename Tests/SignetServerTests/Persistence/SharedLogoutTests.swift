#if os(Linux)
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

extension SharedStateTests {
    @Test("Of two servers with one state, one sends a logout token, and each attempt is made once")
    func oneOfTwoServersSendsLogoutToken() async throws {
        let count = 20
        let app = try BackChannelReceiver { $0 < count ? .status("500 Oh") : .status("200 OK") }
        try await StateLocation.with(.postgreSQL) { location in
            let clock = ManualClock()
            try await location.server(clock: clock, { $0.setReceivers(["app": app]) }) { one in
                try await location.server(clock: clock, { $0.setReceivers(["app": app]) }) { other in
                    try await one.storeLogouts(count)
                    other.devServer.context.logoutSignals.wake()
                    let failed = try await other.failedLogouts(1)
                    #expect(failed.count == count && app.requests.count == count)
                    // Both servers find the same tokens.
                    clock.advance(by: 5)
                    for server in [one, other] { server.devServer.context.logoutSignals.wake() }
                    try await one.finishedLogouts()
                    let ids = app.requests.map { $0.claims["jti"]?.string }
                    let expected = Set(failed.map { Optional($0.id) })
                    #expect(ids.count == 2 * count)
                    #expect(Set(ids.prefix(count)) == expected && Set(ids.suffix(count)) == expected)
                }
            }
        }
    }
}
#endif
