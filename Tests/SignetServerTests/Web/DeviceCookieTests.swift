import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The device profiles of browsers")
struct DeviceCookieTests {
    private static let done = "You are signed in"

    /// Journeys that store the browser's device profile, and that require it.
    private static let deviceJourneys = """
        Save:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}
            next: {type: DeviceProfileCollectorNode, outcomes: {outcome: save}}
            save: {type: DeviceSaveNode, outcomes: {outcome: success}}
        Match:
          nodes:
            login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: next, false: failure}}
            next: {type: DeviceProfileCollectorNode, outcomes: {outcome: match}}
            match: {type: DeviceMatchNode, outcomes: {true: success, false: failure, unknownDevice: failure}}
        """

    @Test("A browser is recognized by its device profile after the login is over, and no other browser is")
    func recognizesDevice() async throws {
        try await TestServer.run(journeys: Self.deviceJourneys) { server in
            let browser = PageBrowser(server)
            let unknown = try await browser.signIn(through: "Match")
            #expect(unknown.heading != Self.done)
            #expect(try await browser.signIn(through: "Save").heading == Self.done)
            server.clock.advance(by: 86_400)
            #expect(try await browser.signIn(through: "Match").heading == Self.done)
            #expect(try await PageBrowser(server).signIn(through: "Match").heading != Self.done)
        }
    }

    @Test("The cookies of an attacker's login, planted in the user's browser, do not make the attacker's browser the user's")
    func inheritsNoPlantedDevice() async throws {
        try await TestServer.run(journeys: Self.deviceJourneys) { server in
            let attacker = PageBrowser(server)
            #expect(try await attacker.signIn(through: "Save", name: "noa").heading == Self.done)
            _ = try await attacker.get("\(LoginPageTests.xui)&ForceAuth=true")
            let known = attacker.cookies.filter { $0.key != "iPlanetDirectoryPro" }
            #expect(known["signet-device"] != nil)
            let user = PageBrowser(server, cookies: known)
            #expect(try await user.signIn(through: "Save").heading == Self.done)
            #expect(try await user.signIn(through: "Match").heading == Self.done)
            for cookies in [attacker.cookies, known] {
                #expect(try await PageBrowser(server, cookies: cookies).signIn(through: "Match").heading != Self.done)
            }
        }
    }
}

extension PageBrowser {
    /// Completes a journey with a login and a device profile.
    fileprivate func signIn(through journey: String, name: String = "mira") async throws -> Reply {
        let password = name == "noa" ? "staple" : TestServer.password
        let page = try await get("\(LoginPageTests.xui)&authIndexType=service&authIndexValue=\(journey)&ForceAuth=true")
        let next = try await signIn(page, name: name, password: password)
        return try await submit(next, [:])
    }
}
