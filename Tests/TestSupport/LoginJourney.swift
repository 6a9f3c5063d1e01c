package import SignetServer

extension ServerConfiguration {
    /// The section `journeys` of a configuration file with the journey `Login`: a page with a name and a password.
    ///
    /// Other journeys can follow, each with two spaces before its name.
    package static let loginJourney = """
        journeys:
          Login:
            nodes:
              page:
                type: PageNode
                nodes: [{type: UsernameCollectorNode}, {type: PasswordCollectorNode}]
                outcomes: {outcome: password}
              password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}

        """
}
