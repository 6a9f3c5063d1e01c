import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Login pages that ask the user again")
struct RepeatedPageTests {
    private static let notice = "<p>That was not accepted. Check what you entered, and try again.</p>"

    private func open(_ journey: String, _ browser: PageBrowser) async throws -> Reply {
        try await browser.get("/am/XUI/?authIndexType=service&authIndexValue=\(journey)")
    }

    @Test("The page that is shown again after a wrong password says that it was not accepted")
    func saysThatPasswordWasNotAccepted() async throws {
        let journeys = """
            J:
              nodes:
                page:
                  type: PageNode
                  nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}]
                  outcomes: {outcome: password}
                password: {type: DataStoreDecisionNode, outcomes: {true: success, false: attempts}}
                attempts: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: page, Reject: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let browser = PageBrowser(server)
            let page = try await open("J", browser)
            #expect(page.status == 200 && !page.text.contains(Self.notice))
            let again = try await browser.signIn(page, password: "wrong")
            #expect(again.status == 200 && again.text.contains("role=\"alert\""))
            #expect(again.text.contains("<p>The user name or the password is wrong. Try again.</p>"))
            #expect(again.text.contains("value=\"mira\"") && !again.text.contains("wrong\""))
            #expect(try await browser.signIn(again).heading == "You are signed in")
        }
    }

    @Test("The page that is shown again after a wrong one-time code says so, and the first question does not")
    func saysThatCodeWasNotAccepted() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let registration = try await browser.signIn(try await open("OATHRegistration", browser))
            #expect(registration.text.contains("Then continue, and enter the code that it shows."))
            let question = try await browser.submit(registration, [:])
            #expect(question.heading == "Enter your code" && !question.text.contains(Self.notice))
            let again = try await browser.submit(question, ["IDToken1": "000000"])
            #expect(again.heading == "Enter your code" && !again.text.contains("000000"))
            #expect(again.text.contains("<p>The code is wrong, or it was used before. Enter another one.</p>"))
        }
    }

    @Test("A registration page that no code follows does not ask to enter one")
    func registrationWithoutCodeAsksForNone() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let registration = try await browser.signIn(try await open("RecoveryRegistration", browser))
            #expect(registration.text.contains("with your authenticator. Then continue."))
        }
    }

    @Test("A registration page with a blank security answer is shown again with a message, and keeps the other input")
    func saysThatBlankAnswerWasNotAccepted() async throws {
        try await TestServer.run { server in
            let browser = PageBrowser(server)
            let fields: [String: String?] = [
                "IDToken1": "newcomer", "IDToken2": "Passw0rd!", "IDToken3": "Nora", "IDToken4": "new@example.test",
                "IDToken5question": "Where were you born?", "IDToken5answer": " ", "IDToken6": "true",
            ]
            let again = try await browser.submit(try await open("Registration", browser), fields)
            #expect(again.heading == "Sign Up" && again.text.contains(Self.notice))
            for value in ["newcomer", "Nora", "new@example.test", "Where were you born?"] {
                #expect(again.text.contains("value=\"\(value)\""), "\(value)")
            }
            #expect(again.text.contains("id=\"IDToken6\" name=\"IDToken6\" value=\"true\" checked"))
            #expect(!again.text.contains("Passw0rd!"))
            let done = try await browser.submit(again, fields.merging(["IDToken5answer": "Ulm"]) { $1 })
            #expect(done.heading == "You are signed in")
        }
    }

    @Test("A page of another node that asks the same has no message")
    func otherNodeIsNoRepetition() async throws {
        let journeys = """
            J:
              nodes:
                one: {type: InputCollectorNode, outcomes: {outcome: two}}
                two: {type: InputCollectorNode, attribute: other, outcomes: {outcome: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let browser = PageBrowser(server)
            let second = try await browser.submit(try await open("J", browser), ["IDToken1": "x"])
            #expect(second.status == 200 && second.formAction != nil && !second.text.contains(Self.notice))
        }
    }

    @Test("A page that asks only for the device profile is sent by its script")
    func deviceProfilePageSendsItself() async throws {
        let journeys = """
            J:
              nodes:
                profile: {type: DeviceProfileCollectorNode, outcomes: {outcome: name}}
                name: {type: UsernameCollectorNode, outcomes: {outcome: failure}}
            """
        try await TestServer.run(journeys: journeys) { server in
            let browser = PageBrowser(server)
            let profile = try await open("J", browser)
            #expect(profile.text.contains(" data-submit"))
            let name = try await browser.submit(profile, [:])
            #expect(name.text.contains("name=\"IDToken1\"") && !name.text.contains(" data-submit"))
        }
    }
}
