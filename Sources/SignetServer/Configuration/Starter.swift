/// The starter file, which is also the configuration of a development server without a file.
enum Starter {
    static let text = people + journeys + StarterCallbacks.text

    /// The configuration in the starter file. If it cannot be read, a server with it fails to start (``Journeys/defect``).
    static let configuration = configuration(of: text)

    static func configuration(of text: String) -> ServerConfiguration {
        do throws(ConfigurationError) {
            return try ConfigurationReader.read(text, standardJourneys: { Journeys([]) })
        } catch {
            return ServerConfiguration(journeys: Journeys(defect: error))
        }
    }

    private static let people = #"""
        # A configuration of `signet serve`: who there is, what apps there are, and how people log in.
        # docs/reference/configuration.md describes every setting and node. `signet serve --validate-config FILE` says what is wrong with a file.

        # server:
        #   issuer: Signet
        #   pushTimeout: 120

        realms: [/, /alpha]

        users:
          # Without a password one is made up, and told when the server starts. With `password: changeit` it is that.
          - name: demo
            claims: {given_name: Demo, family_name: User, email: demo@example.test}

        clients:
          # An app of one's own machine: public, with PKCE. Of 127.0.0.1 any port will do.
          - id: app
            redirectURIs: ["http://127.0.0.1/callback", "org.example.app://callback"]
            postLogoutRedirectURIs: ["http://127.0.0.1/", "org.example.app://bye"]

        # What Attribute Collectors ask for; userName, password, givenName, sn and mail are known.
        attributes:
          age: {title: Age, type: number, policies: [minimum-number-value: 18, maximum-number-value: 120]}
          updates: {title: Send updates, type: boolean}

        """#

    private static let journeys = #"""

        journeys:
          Login:
            nodes:
              page:
                type: PageNode
                stage: UsernamePassword
                pageHeader: Sign In
                pageDescription: With your name and password
                nodes:
                  - type: UsernameCollectorNode
                  - type: PasswordCollectorNode
                outcomes: {outcome: password}
              password: {type: DataStoreDecisionNode, outcomes: {true: success, false: failure}}

          # Somebody new.
          Registration:
            nodes:
              page:
                type: PageNode
                stage: Registration
                pageHeader: Sign Up
                pageDescription: Tell us who you are
                nodes:
                  - {type: ValidatedUsernameNode, validateInput: true}
                  - {type: ValidatedPasswordNode, validateInput: true}
                  - {type: AttributeCollectorNode, attributesToCollect: [givenName, mail], required: true, validateInputs: true}
                  - {type: KbaCreateNode}
                  - {type: AcceptTermsAndConditionsNode}
                outcomes: {outcome: create}
              create: {type: CreateObjectNode, outcomes: {CREATED: success, FAILURE: failure}}

          # A name, and a link in an email.
          EmailLogin:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: email}}
              email: {type: EmailSuspendNode, outcomes: {outcome: success}}

          # A name, and the answer to one of the person's questions: three times if need be.
          QuestionLogin:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: question}}
              question: {type: KbaVerifyNode, outcomes: {true: success, false: attempts}}
              attempts: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: question, Reject: failure}}

          # A forgotten password: a user who answers one of their questions, or follows the link in an email, sets a new one.
          ForgottenPassword:
            nodes:
              name: {type: UsernameCollectorNode, outcomes: {outcome: questions}}
              questions: {type: KbaDecisionNode, outcomes: {true: question, false: email}}
              question: {type: KbaVerifyNode, outcomes: {true: password, false: attempts}}
              attempts: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: question, Reject: email}}
              email: {type: EmailSuspendNode, outcomes: {outcome: password}}
              password:
                type: PageNode
                pageHeader: Choose a new password
                nodes: [{type: ValidatedPasswordNode, validateInput: true}]
                outcomes: {outcome: save}
              save: {type: PatchObjectNode, outcomes: {PATCHED: success, FAILURE: failure}}

          # One-time codes. The device is saved when it has shown a right code.
          OATHRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: OathRegistrationNode
                postponeDeviceProfileStorage: true
                generateRecoveryCodes: false
                outcomes: {successOutcome: code, failureOutcome: failure}
              code: {type: InnerTreeEvaluatorNode, tree: Code, outcomes: {true: store, false: failure}}
              store: {type: OathDeviceStorageNode, outcomes: {successOutcome: success, failureOutcome: failure}}

          OATHLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: code, false: failure}}
              code: {type: InnerTreeEvaluatorNode, tree: Code, outcomes: {true: success, false: failure}}

          # A code, three times if need be.
          Code:
            innerTreeOnly: true
            nodes:
              code:
                type: OathTokenVerifierNode
                outcomes: {successOutcome: success, failureOutcome: attempts, notRegisteredOutcome: failure}
              attempts: {type: RetryLimitDecisionNode, retryLimit: 2, outcomes: {Retry: code, Reject: failure}}

          # Codes to keep for the day when the device is lost, and a login with one of them.
          RecoveryRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register: {type: OathRegistrationNode, outcomes: {successOutcome: codes, failureOutcome: failure}}
              codes: {type: RecoveryCodeDisplayNode, outcomes: {outcome: success}}

          RecoveryLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: code, false: failure}}
              code:
                type: OathTokenVerifierNode
                isRecoveryCodeAllowed: true
                outcomes: {successOutcome: success, recoveryCodeOutcome: recovery, otherwise: failure}
              recovery: {type: RecoveryCodeCollectorDecisionNode, outcomes: {true: success, false: failure}}

          # Push.
          PushRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: PushRegistrationNode
                generateRecoveryCodes: false
                outcomes: {successOutcome: success, otherwise: failure}

          CombinedRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: CombinedMultiFactorRegistrationNode
                generateRecoveryCodes: false
                outcomes: {successOutcome: success, otherwise: failure}

          PushLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
              send: {type: PushAuthenticationSenderNode, contextInfo: true, outcomes: {SENT: wait, NOT_REGISTERED: failure}}
              wait: {type: InnerTreeEvaluatorNode, tree: PushAnswer, outcomes: {true: success, false: failure}}

          PushNumberLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
              send:
                type: PushAuthenticationSenderNode
                pushType: CHALLENGE
                contextInfo: true
                outcomes: {SENT: wait, NOT_REGISTERED: failure}
              wait: {type: InnerTreeEvaluatorNode, tree: PushAnswer, outcomes: {true: success, false: failure}}

          PushBiometricLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: send, false: failure}}
              send:
                type: PushAuthenticationSenderNode
                pushType: BIOMETRIC
                contextInfo: true
                outcomes: {SENT: wait, NOT_REGISTERED: failure}
              wait: {type: InnerTreeEvaluatorNode, tree: PushAnswer, outcomes: {true: success, false: failure}}

          # Waits for the answer to the message that was sent.
          PushAnswer:
            innerTreeOnly: true
            nodes:
              wait: {type: PushWaitNode, outcomes: {DONE: verify}}
              verify:
                type: PushResultVerifierNode
                outcomes: {TRUE: success, FALSE: failure, EXPIRED: failure, WAITING: wait}

          # A key on the device; DeviceLogin asks for no name, the device knows it.
          DeviceBinding:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: bind, false: failure}}
              bind: {type: DeviceBindingNode, outcomes: {success: success, otherwise: failure}}

          DeviceSigning:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: sign, false: failure}}
              sign: {type: DeviceSigningVerifierNode, outcomes: {success: success, otherwise: failure}}

          DeviceLogin:
            nodes:
              sign: {type: DeviceSigningVerifierNode, outcomes: {success: success, otherwise: failure}}

          # Passkeys, as since AM 7.1, as in 7.0, and as in 6.5.
          WebAuthnRegistration:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: WebAuthnRegistrationNode
                generateRecoveryCodes: false
                outcomes: {success: success, otherwise: failure}

          WebAuthnLogin:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: sign, false: failure}}
              sign: {type: WebAuthnAuthenticationNode, outcomes: {success: success, otherwise: failure}}

          WebAuthnRegistration70:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: WebAuthnRegistrationNode
                legacyMetadata: true
                generateRecoveryCodes: false
                outcomes: {success: success, otherwise: failure}

          WebAuthnLogin70:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: sign, false: failure}}
              sign: {type: WebAuthnAuthenticationNode, legacyMetadata: true, outcomes: {success: success, otherwise: failure}}

          WebAuthnRegistration65:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: register, false: failure}}
              register:
                type: WebAuthnRegistrationNode
                asScript: true
                generateRecoveryCodes: false
                outcomes: {success: success, otherwise: failure}

          WebAuthnLogin65:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: sign, false: failure}}
              sign: {type: WebAuthnAuthenticationNode, asScript: true, outcomes: {success: success, otherwise: failure}}

          # Ends that a client must know.
          PassThrough:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: pass, false: failure}}
              pass: {type: PassThroughNode, outcomes: {outcome: success}}

          Failure:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {otherwise: failure}}

          Locked:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: end, false: failure}}
              end: {type: FailureNode, reason: lockedOut}

          PolicyFailure:
            nodes:
              login: {type: InnerTreeEvaluatorNode, tree: Login, outcomes: {true: end, false: failure}}
              end: {type: FailureNode, reason: policyFailure, attribute: mail, policies: [not-empty, valid-email-address-format]}

        """#
}
