import PingJourneyPlugin
import Testing

private final class ColorCallback: AbstractCallback, JourneyAware {
    var color = ""
    var journey: Journey?

    override func initValue(name: String, value: Any) {
        if name == "color", let text = value as? String { color = text }
    }

    override func payload() -> [String: Any] { input(color.uppercased(), true) }
}

private final class DataCallback: AbstractCallback, MetadataCallbackProtocol {}

@Suite("Callback classes of an app")
struct CallbackRegistryTests {
    private static var json: [String: Any] {
        [
            "type": "ColorCallback", "output": [["name": "color", "value": "red"], ["name": "none", "value": "x"]],
            "input": [["name": "IDToken1", "value": ""], ["name": "IDToken2", "value": false]],
        ]
    }

    @Test("The registry makes objects of the app's classes, and leaves out those that only carry data")
    func makesObjectsOfApp() async throws {
        let registry = CallbackRegistry.shared
        await registry.register(type: "ColorCallback", callback: ColorCallback.self)
        await registry.register(type: "DataCallback", callback: DataCallback.self)
        let made = await registry.callback(from: [["type": "DataCallback"], Self.json, ["type": "Unknown"]])
        let color = try #require(made.first as? ColorCallback)
        #expect(made.count == 1 && color.color == "red")
        let inputs = color.payload()["input"] as? [[String: Any]]
        #expect(inputs?.first?["value"] as? String == "RED" && inputs?.last?["value"] as? Bool == true)

        let workflow = Workflow.createWorkflow()
        let context = FlowContext(flowContext: SharedContext())
        let node = ContinueNode(context: context, workflow: workflow, input: [:], actions: made)
        registry.inject(continueNode: node, journey: workflow)
        #expect(color.journey === workflow && node.callbacks.count == 1)
        await registry.reset()
        let none = await registry.type(for: "ColorCallback")
        #expect(none == nil)
    }

    @Test("An input is filled in by its position or its name")
    func fillsInputs() throws {
        let callback = AbstractCallback()
        _ = callback.initialize(with: Self.json)
        _ = callback.input("a")
        let json = callback.input(true, forKey: "IDToken2")
        let inputs = try #require(json["input"] as? [[String: Any]])
        #expect(inputs[0]["value"] as? String == "a" && inputs[1]["value"] as? Bool == true)
    }
}
