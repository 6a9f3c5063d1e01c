import SignetCore
import SignetNetwork
import SignetOAuth
import Testing

/// The modules of `oidcc-client-rp-initiated-logout-rp-basic`.
///
/// The requests that the modules send to the back channel of the client are the subject of the tests in `BackChannel/`.
@Suite("The RP-Initiated Logout plan for relying parties")
struct LogoutPlanTests {
    /// Checks that this machine is logged out, that the tokens are revoked, and what the browser sent to the provider.
    private func expectLogOut(_ report: LogOutReport, _ party: RelyingParty) async throws {
        #expect(report.local == .done && report.tokens == .done)
        #expect(try await party.store.token() == nil)
        let state = party.provider.now
        let request = state.logOuts.first ?? [:]
        #expect(state.logOuts.count == 1 && request["state"]?.isEmpty == false && state.revoked == ["refresh-2-x"])
        #expect(request["post_logout_redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true)
        #expect(request["post_logout_redirect_uri"]?.hasSuffix("/logged-out") == true)
        party.expectNoFaults()
    }

    @Test("The browser ends the session and comes back with the state (oidcc-client-test-rp-init-logout)")
    func comesBackFromLogOut() async throws {
        try await RelyingParty.with { (party: RelyingParty) async throws in
            _ = try await party.logIn()
            let report = await party.logOut()
            try await expectLogOut(report, party)
            #expect(report.openIDSession == .done && report.isComplete)
        }
    }

    private static let modules = [
        ProviderCase("oidcc-client-test-rp-init-logout-other-state", .failed(.cancelled, "not the answer to this logout")) {
            $0.logOut = { fields in fields = [(name: "state", value: "\(fields.first?.value ?? "")_INVALID")] }
        },
        ProviderCase("oidcc-client-test-rp-init-logout-no-state", .failed(.cancelled, "not the answer to this logout")) {
            $0.logOut = { fields in fields = [] }
        },
    ]

    @Test(
        "A return with another state or none is not that of this logout: the browser gets a page, and the report says so",
        arguments: modules)
    func refusesReturnWithoutState(module: ProviderCase) async throws {
        try await RelyingParty.with(module.deviation) { (party: RelyingParty) async throws in
            _ = try await party.logIn()
            let report = await party.logOut(isAbandoned: true)
            try await expectLogOut(report, party)
            guard case .failed(let error) = report.openIDSession else {
                Issue.record("\(report.openIDSession)")
                return
            }
            module.check(Result<Bool, any Error>.failure(error))
            #expect(party.browserStatuses.last == 400)
        }
    }

    @Test("A logout at a provider without a revocation endpoint ends the session and does not fail")
    func logsOutWithoutRevocationEndpoint() async throws {
        let deviation = RelyingParty.Deviation { $0.metadata = { $0["revocation_endpoint"] = nil } }
        try await RelyingParty.with(deviation) { (party: RelyingParty) async throws in
            _ = try await party.logIn()
            let report = await party.logOut()
            guard case .notOffered(let rest) = report.tokens else {
                Issue.record("\(report.tokens)")
                return
            }
            #expect(report.local == .done && report.openIDSession == .done && rest.hasRefreshToken)
            #expect(party.provider.count("revoke") == 0)
            party.expectNoFaults()
        }
    }
}
